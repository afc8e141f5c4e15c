package conformance

import (
	"math"
	"slices"
	"strings"
)

// Steps with which most exchanges begin.
var (
	hello      = say("hello", with("v", 2, "speaks", list{2}, "name", "conformance"))
	greeted    = []step{hello, hear("welcome")}
	alive      = []step{say("ping", nil), hear("pong")}
	subscribed = chain(greeted, say("subscribe", with("filter", fields{"clusters", list{"a"}}, "most", 600, "jobs", list{})),
		hear("okay"), hearA, hear("change"))
	withdrawn = []step{say("done", with("code", 0)), hear("okay")}
)

// hearA waits for the clusters as hear("clusters") does, for a client that has only cluster a.
func hearA(c *caller) error {
	m, err := c.take("clusters")
	if err != nil {
		return err
	}
	all, _ := m["all"].([]any)
	c.names = map[string]int64{"b": math.MaxInt32}
	for _, one := range all {
		if cluster := plain(one); cluster["name"] == "a" {
			c.names["a"] = cluster.int("c")
		}
	}
	return nil
}

// chain concatenates steps and lists of steps.
func chain(all ...any) []step {
	var out []step
	for _, one := range all {
		switch one := one.(type) {
		case step:
			out = append(out, one)
		case func(*caller) error:
			out = append(out, one)
		case []step:
			out = append(out, one...)
		}
	}
	return out
}

// asks sends a request for hosts of a, with some fields changed.
func asks(change ...any) step {
	return say("request", func(c *caller) fields {
		all := fields{"view", c.view, "tag", 5, "hosts", list{list{c.names["a"], 4}}, "walltime", 60}
		for i := 0; i < len(change); i += 2 {
			v := change[i+1]
			if f, ok := v.(func(*caller) any); ok {
				v = f(c)
			}
			all[slices.Index(all, change[i])+1] = v
		}
		return all
	})
}

// of returns a list of hosts of cluster a.
func of(counts ...any) func(*caller) any {
	return func(c *caller) any {
		var all list
		for _, n := range counts {
			all = append(all, list{c.names["a"], n})
		}
		return all
	}
}

func deep(n int) any {
	var v any = 1
	for range n {
		v = list{v}
	}
	return v
}

func exchanges() []exchange {
	return slices.Concat(greetings(), frames(), lives(), lies(), deflated())
}

func greetings() []exchange {
	return []exchange{
		{"hello", greeted},
		{"hello with more keys and other integers", chain(
			say("hello", with("later", fields{"x", list{1.5}}, "v", wide(2), "speaks", list{big(2), 3})), hear("welcome"))},
		{"hello of version 3", chain(say("hello", with("v", 3, "speaks", list{3})), older, closed)},
		{"a request of version 1 that is none", chain(body(fields{"v", 1, "job", -1}), older, closed)},
		{"a long name", chain(say("hello", with("v", 2, "speaks", list{2}, "name", strings.Repeat("x", 65))), refused("size", "name"), closed)},
		{"a foreign application", chain(say("hello", with("v", 2, "speaks", list{2}, "app", 1<<40)), refused("unknown", ""), closed)},
		{"no hello", chain(say("list", with("v", 2)), refused("frame", ""), closed)},
		{"a part of nothing", chain(
			say("hello", with("v", 2, "speaks", list{2}, "part", fields{"c", "a", "job", 1 << 40})), refused("unknown", ""), closed)},
	}
}

func frames() []exchange {
	all := []exchange{
		{"nested six times", chain(greeted, say("ping", with("x", deep(5))), hear("pong"))},
		{"an unknown type", chain(greeted, say("dance", nil), refused("type", ""), alive)},
		{"a type of the server", chain(greeted, say("start", with("tag", 1)), refused("type", ""), alive)},
		{"too long", chain(greeted, bytesOf([]byte{0, 1, 0, 1}), refused("size", ""), closed)},
		{"cut", chain(greeted, bytesOf([]byte{0, 0, 0, 9, 0x81}), step(again), hello, step(func(c *caller) error { c.app = 0; return nil }), hear("welcome"))},
	}
	for name, v := range map[string]any{
		"not msgpack": raw("\xc1"), "a list": list{"t", "ping"}, "no type": fields{"s", 2}, "no number": fields{"t", "ping"},
		"too deep": fields{"t", "ping", "s", 2, "x", deep(6)}, "a number for a key": fields{"t", "ping", "s", 2, 7, 7},
		"bytes after the map": raw("\x82\xa1t\xa4ping\xa1s\x02\x00"), "nothing": raw(""),
	} {
		all = append(all, exchange{name, chain(greeted, body(v), refused("frame", ""), closed)})
	}
	return all
}

func lives() []exchange {
	return []exchange{
		{"ping", chain(greeted, alive)},
		{"list", chain(greeted, say("list", nil), hear("clusters"))},
		{"subscribe and withdraw", chain(subscribed, withdrawn)},
		{"subscribe to all", chain(greeted, say("subscribe", with("most", 0)), hear("okay"), hear("clusters"), hear("change"), withdrawn)},
		{"request, start, done", chain(subscribed, asks(), hear("start"), asks(), refused("state", ""), withdrawn)},
		{"ack", chain(subscribed, say("ack", func(c *caller) fields { return fields{"view", c.view} }), alive, withdrawn)},
		{"come back", chain(subscribed, step(again),
			say("hello", func(c *caller) fields { return fields{"v", 2, "speaks", list{2}, "app", c.app, "have", 0} }),
			hear("welcome"), hear("change"), withdrawn)},
	}
}

func lies() []exchange {
	other := func(c *caller) any { return list{list{c.names["b"], 1}} }
	unseen := func(c *caller) any { return c.view + 1000 }
	var all []exchange
	for name, l := range map[string]struct {
		key         string
		v           any
		code, field string
	}{
		"walltime 0":            {"walltime", 0, "walltime", "walltime"},
		"walltime below 0":      {"walltime", -1, "walltime", "walltime"},
		"walltime above most":   {"walltime", 601, "walltime", "walltime"},
		"walltime in part":      {"walltime", 1.5, "walltime", "walltime"},
		"walltime of 2^63":      {"walltime", big(1 << 63), "walltime", "walltime"},
		"walltime as text":      {"walltime", "60", "walltime", "walltime"},
		"no hosts":              {"hosts", list{}, "hosts", "hosts"},
		"0 hosts":               {"hosts", of(0), "hosts", ""},
		"-1 hosts":              {"hosts", of(-1), "hosts", ""},
		"more than there are":   {"hosts", of(9), "hosts", ""},
		"part of a host":        {"hosts", of(0.5), "hosts", ""},
		"a cluster twice":       {"hosts", of(1, 1), "cluster", ""},
		"not subscribed to":     {"hosts", other, "cluster", ""},
		"a view that never was": {"view", unseen, "view", ""},
		"view 0":                {"view", 0, "view", ""},
		"a tag below 0":         {"tag", -1, "state", "tag"},
	} {
		all = append(all, exchange{name, chain(subscribed, asks(l.key, l.v), refused(l.code, l.field), alive, withdrawn)})
	}
	return append(all,
		exchange{"an ack of a view that never was", chain(subscribed,
			say("ack", func(c *caller) fields { return fields{"view", c.view + 1000} }), refused("view", ""), alive, withdrawn)},
		exchange{"most below 0", chain(greeted, say("subscribe", with("most", -1)), refused("walltime", "most"), alive)},
		exchange{"a cluster twice in a filter", chain(greeted,
			say("subscribe", with("filter", fields{"clusters", list{"a", "a"}})), refused("cluster", ""), alive)},
		exchange{"65 clusters in a filter", chain(greeted,
			say("subscribe", with("filter", fields{"clusters", list(slices.Repeat([]any{"a"}, 65))})), refused("cluster", ""), alive)})
}
