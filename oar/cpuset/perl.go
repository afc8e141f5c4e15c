package cpuset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// perl formats a value as a Perl expression, the form in which OAR's programs pass values to the programs that they
// send to nodes. The value may be nil, a map[string]any or a []any of such values. Any other value becomes the string
// that fmt prints for it.
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
