// Plays Runes to Ruins at random: the symbol that was drawn for it, and each round a vote and a guess.
package main

import (
	"fmt"
	"math/rand"
)

var divine = []string{"Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"}
var mundane = []string{"Straight", "Torn", "Origin", "Cross", "Angled", "Slash"}

// The action for an open window; nil takes the default.
func decide(name string, view, match Object, rng *rand.Rand) any {
	if name == "symbol" {
		return nil
	}
	var guess []string
	for _, rune := range rng.Perm(36)[:6] {
		guess = append(guess, mundane[rune%6]+" "+divine[rune/6])
	}
	return Object{"votes": Object{fmt.Sprint(1 + rng.Intn(15)): 1}, "guesses": [][]string{guess}}
}
