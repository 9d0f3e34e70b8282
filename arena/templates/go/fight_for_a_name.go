// Plays The Fight For a Name at random: short walks over the hexes, and any vote. It visits no pillar.
package main

import (
	"fmt"
	"math/rand"
)

type place struct{ x, y int }

var rows = []int{1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1}
var wayNames = []string{"N", "NE", "SE", "S", "SW", "NW"}
var ways = map[string]place{"N": {0, -2}, "NE": {1, -1}, "SE": {1, 1}, "S": {0, 2}, "SW": {-1, 1}, "NW": {-1, -1}}
var places, taken = layOut()

// Every hex and Start, with its place on the page; and the places there are.
func layOut() (map[string]place, map[place]bool) {
	places, taken := map[string]place{}, map[place]bool{}
	for y, length := range rows {
		for at := 0; at < length; at++ {
			here, name := place{2*at - length + 1, y}, fmt.Sprint(len(places))
			if len(places) < 18 {
				name = fmt.Sprint(len(places) + 1)
			} else if len(places) == 18 {
				name = "Start"
			}
			places[name], taken[here] = here, true
		}
	}
	return places, taken
}

// The action for an open window; nil takes the default.
func decide(name string, view, match Object, rng *rand.Rand) any {
	switch name {
	case "challenge":
		return Object{"pick": []int{rng.Intn(len(list(view["numbers"])))}}
	case "pillar":
		return nil
	case "move":
		return move(view, rng)
	}
	if candidates := list(view["candidates"]); len(candidates) > 0 {
		return Object{"seat": pick(candidates, rng)}
	}
	return nil
}

func move(view Object, rng *rand.Rand) any {
	at, stands := places[text(view["position"])]
	if !stands { // it has a title, or stands on a pillar
		return nil
	}
	path, most := []string{}, whole(view["mp"])
	if most > 3 {
		most = 3
	}
	for steps := rng.Intn(most + 1); len(path) < steps; {
		way := wayNames[rng.Intn(len(wayNames))]
		if there := (place{at.x + ways[way].x, at.y + ways[way].y}); taken[there] {
			path, at = append(path, way), there
		}
	}
	return Object{"path": path}
}
