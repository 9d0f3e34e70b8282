// Plays Runes to Ruins at random: the symbol that was drawn for it, and each round a vote and a guess.
const DIVINE = ["Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"];
const MUNDANE = ["Straight", "Torn", "Origin", "Cross", "Angled", "Slash"];

module.exports = function decide(name, view, match, random) {
  if (name === "symbol") return null;
  const below = (most) => Math.floor(random() * most);
  const guess = new Set();
  while (guess.size < 6) guess.add(`${MUNDANE[below(6)]} ${DIVINE[below(6)]}`);
  return { votes: { [1 + below(15)]: 1 }, guesses: [[...guess]] };
};
