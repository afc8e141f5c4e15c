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
// core and mem are what OAR's own oar_resources_init makes (mem in GiB, rounded up), memnode (MiB), cpuarch and cputype are Grid'5000's. Nobody has one
// for a host's disk: scratch is our word (Grid'5000's disks are resources of their own, whose sizes no property says).
var (
	memories  = []amount{{"memnode", 1}, {"mem", 1024}} // of a host
	scratches = []amount{{"scratch", 1}}
	kinds     = []string{"arch", "cpuarch", "cputype"}
)

// amount is a property that says how much a host has, in so many MiB. It is a column of a query, "NULL" where the site says nothing.
type amount struct {
	property string
	unit     int64
}

// none is an amount of which the site says nothing.
var none = amount{property: "NULL"}

// first is the first of some amounts that resources with these properties have.
func first(of []amount, properties []string) amount {
	for _, a := range of {
		if slices.Contains(properties, a.property) {
			return amount{"r." + a.property, a.unit}
		}
	}
	return none
}

// of is what a host has, in MiB, by what its property says; 0: not known. What is no number is as if it were not there.
func (a amount) of(said string) int64 {
	n, err := strconv.ParseInt(said, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n * a.unit
}

// strength is how a host's strength is asked for.
type strength struct {
	cores, arch     string // columns of a query; arch "NULL" where the site says nothing
	memory, scratch amount
}

// strengthOf is the strength that resources with these properties tell of. Without numbers of cores each resource of a host is one.
func strengthOf(properties []string) strength {
	has := func(name string) bool { return slices.Contains(properties, name) }
	s := strength{cores: "COUNT(*)", arch: "NULL", memory: first(memories, properties), scratch: first(scratches, properties)}
	if has("core") { // numbered through all hosts
		s.cores = "COUNT(DISTINCT r.core)"
	}
	if i := slices.IndexFunc(kinds, has); i >= 0 {
		s.arch = "r." + kinds[i]
	}
	return s
}

// tellStrengths writes into each node what launchers are told of it.
func (o *Reader) tellStrengths(ctx context.Context, from database.Querier, nodes map[string]*adapter.Node) error {
	properties, err := database.Properties(ctx, from)
	if err != nil {
		return err
	}
	s := strengthOf(properties)
	query := fmt.Sprintf("SELECT r.network_address, %s, MIN(%s), MIN(%s), MIN(%s), MAX(%s) FROM resources r WHERE %s AND r.state <> 'Dead' GROUP BY r.network_address",
		s.cores, s.memory.property, s.scratch.property, s.arch, s.arch, database.OnHost)
	return database.Rows(ctx, from, "what the nodes have", query, nil, func(row *sql.Rows) error {
		var host string
		var cores int
		var memory, scratch, arch, other sql.NullString
		err := row.Scan(&host, &cores, &memory, &scratch, &arch, &other)
		n := nodes[host]
		if err != nil || n == nil {
			return err
		}
		n.Cores, n.Memory, n.Scratch = cores, s.memory.of(memory.String), s.scratch.of(scratch.String)
		if arch == other {
			n.Arch = arch.String
		}
		return nil
	})
}
