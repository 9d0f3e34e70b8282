// Positions of real matches on a game's page, drawn as boards are.
for (const figure of document.querySelectorAll("[data-position]")) {
  const told = JSON.parse(figure.querySelector("script").textContent);
  const at = told.views.length - 1;
  const context = { at, eyes: told.eyes, seats: told.names.length, names: told.names, runes: told.runes, last: false, view: (number) => told.views[number], reveal: null };
  const drawn = drawings[told.game]?.board(told.views[at], context);
  if (!drawn) continue;
  const inside = figure.querySelector(".drawing").attachShadow({ mode: "open" });
  inside.append(...styled(figure.dataset.style, el("div", { id: "board" }, drawn.node), el("div", { id: "more" }, drawn.more ?? [])));
}
