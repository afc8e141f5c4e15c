package observe

import (
	"database/sql"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"accordion/adapter"
)

func TestNodeStrengthIsReadFromTheSitesProperties(t *testing.T) {
	for name, test := range map[string]struct {
		properties string // the site's properties, in addition to OAR's own
		resources  []string
		want       adapter.HostResources
	}{
		"none":                           {"", []string{"", ""}, adapter.HostResources{Cores: 2}},
		"as oar_resources_init has them": {", cpu INTEGER, core INTEGER, mem INTEGER", []string{", 1, 7, 126", ", 1, 8, 126"}, adapter.HostResources{Cores: 2, Memory: 126 * 1024}},
		"a resource for each thread":     {", core INTEGER, thread INTEGER", []string{", 7, 1", ", 7, 2", ", 8, 3", ", 8, 4"}, adapter.HostResources{Cores: 2}},
		"as Grid'5000 has them": {", core INTEGER, cputype TEXT, memnode INTEGER, cpuarch TEXT", []string{", 7, 'Intel Xeon Gold 5220', 98304, 'x86_64'", ", 8, 'Intel Xeon Gold 5220', 98304, 'x86_64'"},
			adapter.HostResources{Cores: 2, Memory: 98304, Arch: "x86_64"}},
		"nothing is set":       {", core INTEGER, mem INTEGER, arch TEXT", []string{", 7, NULL, NULL", ", 8, NULL, NULL"}, adapter.HostResources{Cores: 2}},
		"a host of two":        {", arch TEXT", []string{", 'x86_64'", ", 'aarch64'"}, adapter.HostResources{Cores: 2}},
		"a site with our word": {", core INTEGER, scratch INTEGER", []string{", 7, 400000", ", 8, 400000"}, adapter.HostResources{Cores: 2, Scratch: 400_000}},
		"as text":              {", scratch TEXT", []string{", '400000'"}, adapter.HostResources{Cores: 1, Scratch: 400_000}},
		"scratch is no number": {", scratch TEXT", []string{", '/tmp'"}, adapter.HostResources{Cores: 1}},
		"memory is no number":  {", mem TEXT", []string{", '126 GB'"}, adapter.HostResources{Cores: 1}},
		"nor this":             {", mem INTEGER", []string{", -1"}, adapter.HostResources{Cores: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open("sqlite3", ":memory:")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			do := func(statement string) {
				t.Helper()
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			do("CREATE TABLE resources (network_address TEXT, type TEXT, state TEXT" + test.properties + ")")
			for _, r := range test.resources {
				do("INSERT INTO resources VALUES ('n1', 'default', 'Alive'" + r + ")")
			}
			do("INSERT INTO resources (network_address, type, state) VALUES ('n1', 'default', 'Dead'), ('n2', 'default', 'Alive'), ('n1', 'licence', 'Alive')")
			nodes := map[string]*adapter.Node{"n1": {}}
			if err := (&Reader{}).readStrengths(t.Context(), db, nodes); err != nil {
				t.Fatal(err)
			}
			if got := nodes["n1"].HostResources; got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
