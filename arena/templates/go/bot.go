// Speaks with the referee: each message is one line of JSON. What to play is in decide.go.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
)

type Object = map[string]any

func whole(value any) int                  { number, _ := value.(float64); return int(number) } // 0 for null
func list(value any) []any                 { found, _ := value.([]any); return found }          // empty for null
func object(value any) Object              { found, _ := value.(Object); return found }         // empty for null
func text(value any) string                { found, _ := value.(string); return found }         // "" for null
func pick(from []any, rng *rand.Rand) any { return from[rng.Intn(len(from))] }

func submit(window, action any) {
	line, err := json.Marshal(Object{"type": "submit", "window": window, "action": action, "final": true})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func main() {
	var match Object // what `welcome` said: seat, seats, variant, options, clock
	rng := rand.New(rand.NewSource(0))
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var message Object
		if err := json.Unmarshal(line, &message); err != nil {
			panic(err)
		}
		switch text(message["type"]) {
		case "welcome":
			match = message
			rng = rand.New(rand.NewSource(int64(whole(message["seed"]))))
		case "window":
			submit(message["id"], decide(text(message["window"]), object(message["view"]), match, rng))
		case "rejected":
			if message["reason"] == "illegal" {
				fmt.Fprintln(os.Stderr, "rejected:", message["text"])
				submit(message["window"], nil) // the default
			}
		case "over":
			return
		}
	}
}
