// What pages do beyond standing there: tables are sorted, bots are found, blocks are gone to, times are told.
const MOST_FOUND = 12;

const number = text => /^[+-]?[\d.,]+/.test(text) ? parseFloat(text.replaceAll(",", "")) : null;
const UNITS = { "µs": 1, ms: 1e3, s: 1e6, MB: 1 };
const value = text => {
  const found = number(text);
  return found === null ? null : found * (UNITS[text.match(/(µs|ms|s|MB)$/)?.[1]] ?? 1);
};

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const words = head.classList.contains("words");
      const before = head.getAttribute("aria-sort");
      const falls = before === null ? !words : before === "ascending";
      heads.forEach(each => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      const rows = [...body.rows].map(row => [row.cells[column].textContent.trim(), row]);
      const collator = new Intl.Collator(undefined, { numeric: true });
      rows.sort(([one], [other]) => {
        const [a, b] = [value(one), value(other)];
        if (words || (a === null && b === null)) return (falls ? -1 : 1) * collator.compare(one, other);
        if (a === null || b === null) return a === null ? 1 : -1;  // What nobody knows is last, either way.
        return falls ? b - a : a - b;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}

async function bots(form) {
  const found = [];
  let next = form.dataset.search;
  while (next && found.length < 1e6) {
    const answer = await fetch(next);
    const part = await answer.json();
    found.push(...part.bots);
    next = part.more && form.dataset.here + part.more;
  }
  return found;
}

function searchable(form) {
  const [input, list, status] = [form.querySelector("input"), form.querySelector("ul"), form.querySelector("[role=status]")];
  let all;
  const show = async () => {
    const words = input.value.trim().toLowerCase();
    if (!words) { list.hidden = true; list.replaceChildren(); status.textContent = ""; return; }
    try {
      all ??= bots(form);
      const hits = (await all).filter(([, , name]) => name.toLowerCase().includes(words));
      if (words !== input.value.trim().toLowerCase()) return;
      list.replaceChildren(...hits.slice(0, MOST_FOUND).map(([entrant, place, name]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `${form.dataset.here}bot/${Number(entrant)}.html`;
        link.textContent = `${place}  ${name}`;
        item.append(link);
        return item;
      }));
      status.textContent = hits.length ? `${hits.length} found` : "no bot has that in its name";
      list.hidden = !hits.length;
    } catch { form.hidden = true; }  // A page opened from a disk may not read its index.
  };
  form.hidden = location.protocol === "file:";
  form.addEventListener("submit", event => { event.preventDefault(); list.querySelector("a")?.click(); });
  input.addEventListener("input", show);
  form.addEventListener("keydown", event => { if (event.key === "Escape") { input.value = ""; show(); } });
}

function jumping(form) {
  const input = form.querySelector("input");
  form.hidden = false;
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (input.value >= 1) location.href = `${form.dataset.jump}${Math.floor(input.value) - 1}-0.html`;
  });
}

const AGO = [[31536000, "year"], [2592000, "month"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
function tell(time) {
  const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
  const [unit, name] = AGO.find(([unit]) => Math.abs(seconds) >= unit) ?? [1, "second"];
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.round(seconds / unit), name);
  time.dataset.text ??= time.textContent;
  if (Number.isFinite(seconds)) time.textContent = `${time.dataset.text} (${words})`;
}

export function begin(within) {
  within.querySelectorAll("table[data-sort]").forEach(sortable);
  within.querySelectorAll("form[data-search]").forEach(searchable);
  within.querySelectorAll("form[data-jump]").forEach(jumping);
  within.querySelectorAll("time[datetime]").forEach(tell);
}
begin(document);
setInterval(() => document.querySelectorAll("time[datetime]").forEach(tell), 30_000);
