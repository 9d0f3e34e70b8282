// Plays Pointing at random: nobody, or anybody else.
package main

import "math/rand"

// The action for an open window; nil takes the default.
func decide(name string, view, match Object, luck *rand.Rand) any {
	if name == "vote" {
		return Object{"seat": pick(list(view["tied"]), luck)}
	}
	if luck.Intn(2) == 0 {
		return Object{"target": nil}
	}
	seats := whole(view["seats"])
	return Object{"target": (whole(match["seat"]) + 1 + luck.Intn(seats-1)) % seats}
}
