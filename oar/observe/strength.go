package observe

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"accordion/adapter"
	"accordion/oar/database"
)

// OAR itself says nothing of what a host is: only properties do, which each site makes as it likes. Of these names the first counts that a site has:
// core and mem are what OAR's own oar_resources_init makes (mem in GiB, rounded up), memnode (MiB), cpuarch and cputype are Grid'5000's.
var (
	memories = []amount{{"memnode", 1}, {"mem", 1024}} // of a host
	kinds    = []string{"arch", "cpuarch", "cputype"}
)

// amount is a property that has the memory of a host, in so many MiB.
type amount struct {
	property string
	unit     int64
}

// strength is how a host's strength is asked for.
type strength struct {
	cores, memory, arch string // columns of a query; memory and arch "NULL" where the site says nothing
	unit                int64  // of memory, MiB
}

// strengthOf is the strength that resources with these properties tell of. Without numbers of cores each resource of a host is one.
func strengthOf(properties []string) strength {
	has := func(name string) bool { return slices.Contains(properties, name) }
	s := strength{cores: "COUNT(*)", memory: "NULL", arch: "NULL"}
	if has("core") { // numbered through all hosts
		s.cores = "COUNT(DISTINCT r.core)"
	}
	if i := slices.IndexFunc(memories, func(a amount) bool { return has(a.property) }); i >= 0 {
		s.memory, s.unit = "r."+memories[i].property, memories[i].unit
	}
	if i := slices.IndexFunc(kinds, has); i >= 0 {
		s.arch = "r." + kinds[i]
	}
	return s
}

// tellStrengths writes into each node what launchers are told of it. What a property says that is no number is as if it were not there.
func (o *Reader) tellStrengths(ctx context.Context, from database.Querier, nodes map[string]*adapter.Node) error {
	properties, err := database.Properties(ctx, from)
	if err != nil {
		return err
	}
	s := strengthOf(properties)
	query := fmt.Sprintf("SELECT r.network_address, %s, MIN(%s), MIN(%s), MAX(%s) FROM resources r WHERE %s AND r.state <> 'Dead' GROUP BY r.network_address",
		s.cores, s.memory, s.arch, s.arch, database.OnHost)
	return database.Rows(ctx, from, "what the nodes have", query, nil, func(row *sql.Rows) error {
		var host string
		var cores int
		var memory, arch, other sql.NullString
		err := row.Scan(&host, &cores, &memory, &arch, &other)
		n := nodes[host]
		if err != nil || n == nil {
			return err
		}
		n.Cores = cores
		if amount, err := strconv.ParseInt(memory.String, 10, 32); err == nil && amount > 0 {
			n.Memory = amount * s.unit
		}
		if arch == other {
			n.Arch = arch.String
		}
		return nil
	})
}
