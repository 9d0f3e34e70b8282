// Plays Pointing at random: nobody, or anybody else.
module.exports = function decide(name, view, match, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  if (name === "vote") return { seat: pick(view.tied) };
  const others = Array.from({ length: view.seats }, (_, seat) => seat).filter((seat) => seat !== match.seat);
  return { target: random() < 0.5 ? null : pick(others) };
};
