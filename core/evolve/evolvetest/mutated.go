// Package evolvetest gives tests texts that users write where a profile is meant, right and wrong, for those who judge such
// texts beside the planner (the plug-in in Lua, the admission rule in Perl) must judge them as it does. It is not for product
// code, and it does not know which texts are right: evolve.Parse does.
//
//	for _, text := range evolvetest.Mutated(rand.New(rand.NewPCG(7, 11)), []string{"5x500s,10x1h"}, 2000) {
//		_, err := evolve.Parse(text)
//		…
//	}
package evolvetest

import "math/rand/v2"

// written is what profiles are made of, and what is often written beside it.
const written = "0123456789x,|:-dhms \t.\xc3"

// Mutated is so many texts, each of them one of the right ones with one to three bytes put in, left out or changed.
func Mutated(random *rand.Rand, right []string, n int) []string {
	all := make([]string, n)
	for i := range all {
		text := []byte(right[random.IntN(len(right))])
		for range 1 + random.IntN(3) {
			at := random.IntN(len(text) + 1)
			switch with := written[random.IntN(len(written))]; {
			case random.IntN(3) == 0 || at == len(text):
				text = append(text[:at:at], append([]byte{with}, text[at:]...)...)
			case random.IntN(2) == 0:
				text = append(text[:at:at], text[at+1:]...)
			default:
				text[at] = with
			}
		}
		all[i] = string(text)
	}
	return all
}
