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

// In OAR, hosts are described only by properties, which each site defines as it likes. Each list below has alternative
// properties, and the first one that the site has is used. core and mem come from OAR's oar_resources_init (mem in
// GiB, rounded up). memnode (MiB), cpuarch and cputype are Grid'5000's. There is no usual property for the size of a
// host's disk, so scratch is Accordion's own name. (Grid'5000's disks are separate resources, and no property has
// their sizes.)
var (
	memories  = []amount{{"memnode", 1}, {"mem", 1024}} // properties with the memory of a host
	scratches = []amount{{"scratch", 1}}
	kinds     = []string{"arch", "cpuarch", "cputype"}
)

// An amount is a property with an amount of memory or disk of a host, in units of `unit` MiB. Its name is a column in queries, or "NULL" if
// the site has no such property.
type amount struct {
	property string
	unit     int64
}

// none is an amount that the site does not define.
var none = amount{property: "NULL"}

// first returns the first amount in `of` whose property is in `properties`.
func first(of []amount, properties []string) amount {
	for _, a := range of {
		if slices.Contains(properties, a.property) {
			return amount{"r." + a.property, a.unit}
		}
	}
	return none
}

// of returns how much a host has, in MiB, from the property's value. It returns 0 where that is unknown or not a
// number.
func (a amount) of(said string) int64 {
	n, err := strconv.ParseInt(said, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n * a.unit
}

// strength has the parts of a query that read the properties of hosts.
type strength struct {
	cores, arch     string // columns of a query; arch is "NULL" where the site has no such property
	memory, scratch amount
}

// strengthOf returns the query parts for a site with these properties. Without numbers of cores, each resource of a
// host counts as one core.
func strengthOf(properties []string) strength {
	has := func(name string) bool { return slices.Contains(properties, name) }
	s := strength{cores: "COUNT(*)", arch: "NULL", memory: first(memories, properties), scratch: first(scratches, properties)}
	if has("core") { // cores are numbered across all hosts
		s.cores = "COUNT(DISTINCT r.core)"
	}
	if i := slices.IndexFunc(kinds, has); i >= 0 {
		s.arch = "r." + kinds[i]
	}
	return s
}

// readStrengths sets the fields of each node that launchers can filter by.
func (o *Reader) readStrengths(ctx context.Context, from database.Querier, nodes map[string]*adapter.Node) error {
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
