// Speaks with the referee: each message is one line of JSON. What to play is in decide.js.
const decide = require("./decide.js");

let match = null; // what `welcome` said: seat, seats, variant, options, clock
let random = Math.random;

function randomFrom(seed) {
  // mulberry32: the same seed draws the same numbers, so a match can be played again.
  let state = Number(BigInt(seed) & 0xffffffffn);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function submit(window, action) {
  process.stdout.write(JSON.stringify({ type: "submit", window, action, final: true }) + "\n");
}

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "welcome") {
    match = message;
    random = randomFrom(message.seed);
  } else if (message.type === "window") {
    submit(message.id, decide(message.window, message.view, match, random));
  } else if (message.type === "rejected" && message.reason === "illegal") {
    console.error(`rejected: ${message.text}`);
    submit(message.window, null); // the default
  } else if (message.type === "over") {
    process.exit(0);
  }
});
