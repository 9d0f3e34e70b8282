// Plays Mist at random, over ZeroMQ itself: one PAIR socket, one JSON object a frame.
const { Pair } = require("zeromq");

const ROWS = { A: 5, B: 6, C: 7, D: 8, E: 9, F: 8, G: 7, H: 6, I: 5 };
const CELLS = Object.entries(ROWS).flatMap(([row, length]) => Array.from({ length }, (_, i) => `${row}${i + 1}`));

function decide(name, view) {
  if (name === "first") return { first: 0 };
  const free = CELLS.filter((cell) => !view.forbidden.includes(cell) && (view.visible[cell] ?? "empty") === "empty");
  return { cells: free.length ? [free[Math.floor(Math.random() * free.length)]] : [] };
}

async function main() {
  const socket = new Pair({ linger: 1000 });
  const say = (message) => socket.send(JSON.stringify(message));
  socket.connect(process.env.ARENA_ENDPOINT);
  await say({ type: "hello", token: process.env.ARENA_TOKEN, name: "random-in-node-zeromq", version: "1.0", protocol: 1 });
  for await (const [frame] of socket) {
    const message = JSON.parse(frame.toString());
    if (message.type === "window") {
      await say({ type: "submit", window: message.id, action: decide(message.window, message.view) });
    } else if (message.type === "over") {
      break;
    }
  }
  process.exit(0);
}

main();
