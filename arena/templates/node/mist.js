// Plays Mist at random: one piece a turn, on a cell that it does not see to be taken.
const ROWS = { A: 5, B: 6, C: 7, D: 8, E: 9, F: 8, G: 7, H: 6, I: 5 };
const CELLS = Object.entries(ROWS).flatMap(([row, length]) => Array.from({ length }, (_, i) => `${row}${i + 1}`));

module.exports = function decide(name, view, match, random) {
  if (name === "first") return { first: match.seat };
  const free = CELLS.filter((cell) => !view.forbidden.includes(cell) && (view.visible[cell] ?? "empty") === "empty");
  return free.length ? { cells: [free[Math.floor(random() * free.length)]] } : null;
};
