// Plays Hive Mind at random: a shape on every Hive, of a kind that is left there.
package main

import (
	"math/rand"
	"strings"
)

var kinds = []string{"tri", "arc", "line"}

// The shapes of each kind by their three letters.
var shapes = map[string][]string{
	"tri": strings.Fields("ABE ADE BCF BEF CFG DEH EFI EHI FGJ FIJ HIK IJL IKL "),
	"arc": strings.Fields("ABD ABF ADH AEF AEH BCE BCG BDE BEI BFG BFI CEF CFJ CGJ DEI DHI EFH EFJ EHK EIJ EIK " +
		"FGI FHI FIL FJL GIJ HIL HKL IJK JKL "),
	"line": strings.Fields("ABC AEI BEH BFJ CFI DEF DHK EFG EIL FIK GJL HIJ "),
}

// The action for an open window; nil takes the default.
func decide(name string, view, match Object, rng *rand.Rand) any {
	switch name {
	case "give_token":
		return Object{"seat": (whole(match["seat"]) + 1 + rng.Intn(4)) % 5}
	case "break_tie":
		return Object{"seat": pick(list(view["tied"]), rng)}
	case "scores":
		return nil
	}
	place, turned := Object{}, rng.Intn(3)
	for at, hive := range list(view["hives"]) {
		unused := list(object(view["unused"])[hive.(string)])
		if len(unused) == 0 {
			continue
		}
		kind := kinds[(at+turned)%3] // The first round takes another kind for each Hive.
		if whole(view["round"]) != 1 {
			kind = pick(unused, rng).(string)
		}
		place[hive.(string)] = shapes[kind][rng.Intn(len(shapes[kind]))]
	}
	return Object{"place": place}
}
