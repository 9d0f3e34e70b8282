// Plays The Fight For a Name at random: short walks over the hexes, and any vote. It visits no pillar.
const ROWS = [1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1];
const WAYS = { N: [0, -2], NE: [1, -1], SE: [1, 1], S: [0, 2], SW: [-1, 1], NW: [-1, -1] };
const PLACES = {}; // name to its place on the page
ROWS.forEach((length, y) => {
  for (let at = 0; at < length; at++) {
    const number = Object.keys(PLACES).length;
    PLACES[number === 18 ? "Start" : String(number < 18 ? number + 1 : number)] = [2 * at - length + 1, y];
  }
});

function step(from, way) {
  const [x, y] = [PLACES[from][0] + WAYS[way][0], PLACES[from][1] + WAYS[way][1]];
  return Object.keys(PLACES).find((name) => PLACES[name][0] === x && PLACES[name][1] === y);
}

module.exports = function decide(name, view, match, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  if (name === "challenge") return { pick: [Math.floor(random() * view.numbers.length)] };
  if (name === "pillar") return null;
  if (name !== "move") return { seat: pick([null, ...(view.candidates ?? [])]) };
  if (view.title !== null || !(view.position in PLACES)) return null;
  const path = [];
  let at = view.position;
  const most = Math.min(view.mp, 3);
  for (let steps = Math.floor(random() * (most + 1)); steps > 0; steps--) {
    const way = pick(Object.keys(WAYS).filter((each) => step(at, each)));
    path.push(way);
    at = step(at, way);
  }
  return { path };
};
