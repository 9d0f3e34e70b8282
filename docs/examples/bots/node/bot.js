// Plays Mist at random: one cell a turn, of those it does not see to be taken. Messages are lines of JSON.
const ROWS = { A: 5, B: 6, C: 7, D: 8, E: 9, F: 8, G: 7, H: 6, I: 5 };
const CELLS = Object.entries(ROWS).flatMap(([row, length]) => Array.from({ length }, (_, i) => `${row}${i + 1}`));

function decide(name, view) {
  if (name === "first") return { first: 0 };
  const free = CELLS.filter((cell) => !view.forbidden.includes(cell) && (view.visible[cell] ?? "empty") === "empty");
  return { cells: free.length ? [free[Math.floor(Math.random() * free.length)]] : [] };
}

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "window") {
    const action = decide(message.window, message.view);
    process.stdout.write(JSON.stringify({ type: "submit", window: message.id, action }) + "\n");
  } else if (message.type === "over") {
    process.exit(0);
  }
});
