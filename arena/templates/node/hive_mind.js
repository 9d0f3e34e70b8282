// Plays Hive Mind at random: a shape on every Hive, of a kind that is left there.
const NAMES = {
  tri: "ABE ADE BCF BEF CFG DEH EFI EHI FGJ FIJ HIK IJL IKL",
  arc: "ABD ABF ADH AEF AEH BCE BCG BDE BEI BFG BFI CEF CFJ CGJ DEI DHI EFH EFJ EHK EIJ EIK " +
    "FGI FHI FIL FJL GIJ HIL HKL IJK JKL",
  line: "ABC AEI BEH BFJ CFI DEF DHK EFG EIL FIK GJL HIJ",
};
const SHAPES = Object.fromEntries(Object.entries(NAMES).map(([kind, names]) => [kind, names.split(" ")]));

module.exports = function decide(name, view, match, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  if (name === "give_token") return { seat: (match.seat + 1 + Math.floor(random() * 4)) % 5 };
  if (name === "break_tie") return { seat: pick(view.tied) };
  if (name === "scores") return null;
  const kinds = Object.keys(SHAPES);
  const turned = Math.floor(random() * kinds.length);
  const place = {};
  view.hives.forEach((hive, at) => {
    // The first round takes another kind for each Hive.
    const kind = view.round === 1 ? kinds[(at + turned) % kinds.length] : pick(view.unused[hive] ?? []);
    if (kind) place[hive] = pick(SHAPES[kind]);
  });
  return { place };
};
