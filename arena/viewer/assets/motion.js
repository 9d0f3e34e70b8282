// Changes of a drawing: what stays as it was is left alone, and what has the same `data-id` as before moves to its new place.
function renew(parent, nodes) {
  const before = [...parent.childNodes];
  nodes.forEach((node, at) => {
    if (at < before.length) become(before[at], node);
    else parent.append(node);
  });
  for (const gone of before.slice(nodes.length)) gone.remove();
}

function become(old, made) {
  if (old.nodeName !== made.nodeName) { old.replaceWith(made); return; }
  if (old.nodeType === Node.TEXT_NODE) { if (old.data !== made.data) old.data = made.data; return; }
  for (const { name } of [...old.attributes]) if (!made.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of made.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  renew(old, [...made.childNodes]);
}

// `redraw(root, nodes, ms)`: show these nodes in `root` instead of what is there, in `ms` milliseconds; 0: at once.
const redraw = (() => {
  const running = new WeakMap();
  const SIZES = ["x", "y", "width", "height"];

  // The pictures in `root`, each with its place on the screen and the pixels of one of its units.
  function framesOf(root) {
    const frames = new Map();
    for (const svg of root.querySelectorAll("svg")) {
      if (svg.ownerSVGElement) continue;
      const { left, top, width, height } = svg.getBoundingClientRect(), box = svg.viewBox.baseVal;
      const unit = box?.width ? Math.min(width / box.width, height / box.height) : 1;
      frames.set(svg, { number: frames.size, unit, left: left + (width - box.width * unit) / 2 - box.x * unit, top: top + (height - box.height * unit) / 2 - box.y * unit });
    }
    return frames;
  }

  // Each node with an id: the middle of it in the units of its picture; outside of pictures, in pixels from the corner of `root`.
  function placesOf(root) {
    const frames = framesOf(root), places = new Map(), corner = root.getBoundingClientRect();
    const whole = { number: -1, unit: corner.width / root.offsetWidth || 1, left: corner.left, top: corner.top };
    for (const node of root.querySelectorAll("[data-id]")) {
      const frame = frames.get(node.ownerSVGElement) ?? whole, { left, top, width, height } = node.getBoundingClientRect();
      places.set(node.dataset.id, { node, frame, x: (left + width / 2 - frame.left) / frame.unit, y: (top + height / 2 - frame.top) / frame.unit });
    }
    return places;
  }

  const sizesOf = (node) => (node.localName === "rect" ? SIZES.map((name) => Number(node.getAttribute(name))) : null);

  // A copy in copies of what is around it, which give it colour and place.
  function ghostOf(node) {
    let ghost = node.cloneNode(true);
    for (let around = node.parentNode; around && around !== node.ownerSVGElement; around = around.parentNode) {
      const copy = around.cloneNode(false);
      copy.append(ghost);
      ghost = copy;
    }
    ghost.setAttribute("aria-hidden", "true");
    for (const each of [ghost, ...ghost.querySelectorAll("[data-id]")]) each.removeAttribute("data-id");
    return ghost;
  }

  return (root, nodes, ms = 0) => {
    const last = running.get(root) ?? { motions: [], ghosts: [] };
    for (const each of last.motions) each.cancel();
    for (const each of last.ghosts) each.remove();
    const now = { motions: [], ghosts: [] };
    running.set(root, now);
    root.toggleAttribute("data-motion", ms > 0);
    if (!ms) { renew(root, nodes); return; }

    const stay = new Set(nodes.flatMap((node) => (node.querySelectorAll ? [...node.querySelectorAll("[data-id]")] : [])).map((node) => node.dataset.id));
    const before = placesOf(root), leaving = [];
    for (const [id, place] of before) {
      place.sizes = sizesOf(place.node);
      if (!stay.has(id) && place.frame.number >= 0) leaving.push([place.frame.number, ghostOf(place.node)]);
    }
    renew(root, nodes);
    const move = (node, frames, composite = "replace") => now.motions.push(node.animate(frames, { duration: ms, easing: "ease-in-out", composite }));
    for (const [id, { node, frame, x, y }] of placesOf(root)) {
      const old = before.get(id), sizes = sizesOf(node);
      if (!old) move(node, { opacity: [0, 1] });
      else if (sizes && old.sizes) {
        if (sizes.some((each, at) => each !== old.sizes[at])) move(node, Object.fromEntries(SIZES.map((name, at) => [name, [`${old.sizes[at]}px`, `${sizes[at]}px`]])));
      } else {
        const other = old.frame.number !== frame.number;
        const dx = other ? (old.frame.left + old.x * old.frame.unit - frame.left) / frame.unit - x : old.x - x;
        const dy = other ? (old.frame.top + old.y * old.frame.unit - frame.top) / frame.unit - y : old.y - y;
        if (Math.hypot(dx, dy) > 0.5) move(node, { translate: [`${dx}px ${dy}px`, "0px 0px"] });
      }
    }
    for (const node of root.querySelectorAll(".fresh")) move(node, { transform: ["scale(0.4)", "scale(1)"] }, "add");
    for (const node of root.querySelectorAll(".gone")) move(node, { opacity: [1] });
    const pictures = [...framesOf(root).keys()];
    for (const [number, ghost] of leaving) {
      if (!pictures[number]) continue;
      pictures[number].append(ghost);
      now.ghosts.push(ghost);
      move(ghost, { opacity: [1, 0] });
      now.motions.at(-1).onfinish = () => ghost.remove();
    }
  };
})();
