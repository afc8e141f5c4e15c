package number

import (
	"iter"
	"slices"
	"strings"
)

// A Resource is one item of a list of resources. Such a list is what a job requests, what a job has, or what a node
// has.
type Resource struct {
	Kind  string // Device, or the kind of another trackable resource: cpu, mem, node, billing, …
	Name  string // the name of a device with its type: gpu, gpu:a100; the name of a license or a file system; otherwise ""
	Count int64  // in MB for mem and bb; 1 if the item has no count, Unset if the count cannot be read
}

// Device is the kind of generic resources.
const Device = "gres"

// otherKinds are the trackable resources that are not generic ones.
var otherKinds = []string{"bb", "billing", "cpu", "energy", "fs", "ic", "license", "mem", "node", "pages", "vmem"}

// Resources returns the resources in a list, in the spellings of all releases:
//
//	cpu=8,mem=2000M,node=2,billing=8,gres/gpu:a100=4     what a job has (tres-alloc)
//	gres:gpu:2  gres/gpu:2  gres/gpu=2  gpu:2            what a job requests on each node; 20.11 prints the last form
//	cpu=2,gres/gpu:1  cpu:2                              what a job requests for each task, since 23.11 with CPUs
//	gpu:a100:4(S:0,2),tmp:no_consume:350G                what a node has
//	gpu:a100:2(IDX:0,2-3),tmp(CNT:1024)                  what a job has on a node (scontrol show job -d)
//
// Items that request nothing, such as (null), are left out. Text in brackets is skipped, except CNT, which is the
// count.
func Resources(list string) iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for item := range items(list) {
			if r, ok := resource(item); ok && !yield(r) {
				return
			}
		}
	}
}

// items returns the items of a list that is separated by commas. A comma in brackets does not end an item.
func items(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from, depth := 0, 0
		for i := range len(list) + 1 {
			switch {
			case i == len(list) || list[i] == ',' && depth == 0:
				if !yield(list[from:i]) {
					return
				}
				from = i + 1
			case list[i] == '(':
				depth++
			case list[i] == ')':
				depth = max(depth-1, 0)
			}
		}
	}
}

// unbracketed returns an item without the texts in brackets: sockets, indices, the type (null). If a bracket has a
// count, as in (CNT:1024), it returns the count.
func unbracketed(item string) (text, count string) {
	for {
		before, rest, found := strings.Cut(item, "(")
		text += before
		if !found {
			return text, count
		}
		inside, after, _ := strings.Cut(rest, ")")
		if counted, found := strings.CutPrefix(inside, "CNT:"); found {
			count = counted
		}
		item = after
	}
}

// separators replaces the characters that some releases of Slurm print between the parts of an item by colons.
var separators = strings.NewReplacer("/", ":", "=", ":")

// resource parses one item. `ok` is false if the item requests nothing.
func resource(item string) (r Resource, ok bool) {
	text, counted := unbracketed(item)
	if NoValue(text) {
		return r, false
	}
	parts := slices.DeleteFunc(strings.Split(separators.Replace(text), ":"), func(part string) bool {
		return part == "" || strings.EqualFold(part, "no_consume")
	})
	switch r.Kind = Device; {
	case len(parts) == 0:
		return r, false
	case strings.EqualFold(parts[0], Device):
		parts = parts[1:]
	default:
		if kind := strings.ToLower(parts[0]); slices.Contains(otherKinds, kind) {
			r.Kind, parts = kind, parts[1:]
		}
	}
	if r.Kind == Device && (len(parts) == 0 || strings.EqualFold(parts[0], "none")) {
		return r, false
	}
	r.Count = 1
	if last := len(parts) - 1; last > 0 || last == 0 && r.Kind != Device {
		if n, is := r.count(parts[last]); is {
			r.Count, parts = n, parts[:last]
		}
	}
	if n, is := r.count(counted); is && counted != "" {
		r.Count = n
	}
	r.Name = strings.Join(parts, ":")
	return r, true
}

// count parses a part of an item as the item's count. `is` reports whether the part is a count.
func (r *Resource) count(part string) (n int64, is bool) {
	switch r.Kind {
	case Device:
		if strings.Contains(part, ".") { // Slurm accepts no fractions of devices, so this is a type
			return Unset, false
		}
		return scaled(part, requestUnits)
	case "mem", "bb":
		n, err := Memory(part)
		return n, err == nil
	}
	n, err := Count(part)
	return n, err == nil
}

// Devices returns the count of each generic resource in a node's list (Gres=). The map has counts by name, such as
// gpu, and by name with type, such as gpu:a100. Each item of such a list is a generic resource, whatever its name.
func Devices(list string) map[string]int64 {
	all := map[string]int64{}
	for item := range items(list) {
		r, _ := resource(Device + ":" + item)
		for name := r.Name; name != ""; name = name[:max(strings.LastIndexByte(name, ':'), 0)] {
			all[name] += r.Count
		}
	}
	return all
}
