package cpuset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// perl writes a value as OAR's programs hand it to the programs that they send to nodes: as a piece of Perl. It may be a string, a number,
// nil, a map or a list of such; any other is written as the text that fmt makes of it.
func perl(value any) string {
	switch v := value.(type) {
	case nil:
		return "undef"
	case map[string]any:
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, perl(key)+" => "+perl(v[key]))
		}
		return "{" + strings.Join(pairs, ",") + "}"
	case []any:
		items := make([]string, len(v))
		for i, one := range v {
			items[i] = perl(one)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(fmt.Sprint(value)) + "'"
}
