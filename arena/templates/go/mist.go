// Plays Mist at random: one piece a turn, on a cell that it does not see to be taken.
package main

import (
	"fmt"
	"math/rand"
)

var rowLengths = []int{5, 6, 7, 8, 9, 8, 7, 6, 5} // rows A to I

// The action for an open window; nil takes the default.
func decide(name string, view, match Object, rng *rand.Rand) any {
	if name == "first" {
		return Object{"first": match["seat"]}
	}
	taken := map[any]bool{}
	for _, cell := range list(view["forbidden"]) {
		taken[cell] = true
	}
	for cell, holds := range object(view["visible"]) {
		if holds != "empty" {
			taken[cell] = true
		}
	}
	var free []any
	for row, length := range rowLengths {
		for number := 1; number <= length; number++ {
			if cell := fmt.Sprintf("%c%d", 'A'+row, number); !taken[cell] {
				free = append(free, cell)
			}
		}
	}
	if len(free) == 0 {
		return nil
	}
	return Object{"cells": []any{pick(free, rng)}}
}
