// Plays Pointing at random: nobody, or anybody else.
package main

import "math/rand"

// The action for an open window; nil takes the default.
func decide(name string, view, match Object, rng *rand.Rand) any {
	if name == "vote" {
		return Object{"seat": pick(list(view["tied"]), rng)}
	}
	if rng.Intn(2) == 0 {
		return Object{"target": nil}
	}
	seats := whole(view["seats"])
	return Object{"target": (whole(match["seat"]) + 1 + rng.Intn(seats-1)) % seats}
}
