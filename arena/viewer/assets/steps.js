// What each viewpoint sees at each step of a page's data: its views, and the context that drawings take.
function stepsOf(data) {
  const views = new Map();
  const revealed = data.steps.findIndex((step) => step.reveal);

  // Each view is the one before it with some keys changed, and shares with it what did not change.
  function changed(old, change) {
    if (Array.isArray(change)) return change[0];
    if (change.a || change.l) {
      const made = [...old, ...(change.a ?? [])];
      for (const [at, each] of Object.entries(change.l ?? {})) made[at] = changed(made[at], each);
      return made;
    }
    const made = { ...old };
    for (const key of change.x ?? []) delete made[key];
    for (const [key, each] of Object.entries(change.d)) made[key] = changed(Object.hasOwn(made, key) ? made[key] : undefined, each);
    return made;
  }

  function viewOf(eyes, at) {
    if (!views.has(eyes)) views.set(eyes, { grown: [], whole: {} });
    const kept = views.get(eyes);
    for (let next = kept.grown.length; next <= at; next += 1) {
      const board = data.boards[eyes][next];
      if (typeof board === "string") { kept.grown.push(null); continue; }
      const made = { ...kept.whole };
      for (const [key, number] of Object.entries(board)) made[key] = changed(made[key], data.pool[number]);
      kept.whole = made;
      kept.grown.push(made);
    }
    return kept.grown[at];
  }

  const contextOf = (eyes, at) => ({
    at, eyes, seats: data.seats, names: data.names, runes: data.runes, last: at === data.steps.length - 1,
    view: (number) => viewOf(eyes, number),
    reveal: revealed >= 0 && at >= revealed ? data.steps[revealed].reveal : null,
  });
  return { viewOf, contextOf };
}
