// What pages do beyond standing there: tables are sorted, bots are found, matches are gone to, times are told.
// No module: browsers refuse those to pages that are opened from a disk.
(() => {
"use strict";
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
  if (fromDisk) return onPage();
  let next = form.dataset.search;
  while (next && found.length < 1e6) {
    const answer = await fetch(next);
    const part = await answer.json();
    found.push(...part.bots);
    next = part.more && form.dataset.here + part.more;
  }
  return found;
}

// A page from a disk may not read the index: there, the bots of the page itself are searched.
const fromDisk = location.protocol === "file:";
function onPage() {
  const found = new Map();
  for (const row of document.querySelectorAll("main tr")) {
    const link = row.querySelector("a[href*='bot/']");
    const entrant = link?.getAttribute("href").match(/(?:^|\/)bot\/(\d+)\.html$/)?.[1];
    const place = row.cells[0].contains(link) ? "" : row.cells[0].textContent.trim();
    if (entrant !== undefined && !found.get(entrant)?.[1]) found.set(entrant, [entrant, place, link.textContent]);
  }
  return [...found.values()];
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
        link.textContent = `${place}  ${name}`.trim();
        item.append(link);
        return item;
      }));
      status.textContent = hits.length ? `${hits.length} found` : "no bot has that in its name";
      list.hidden = !hits.length;
    } catch { form.hidden = true; }
  };
  form.hidden = fromDisk && !onPage().length;
  form.addEventListener("submit", event => { event.preventDefault(); list.querySelector("a")?.click(); });
  input.addEventListener("input", show);
  form.addEventListener("keydown", event => { if (event.key === "Escape") { input.value = ""; show(); } });
}

function jumping(form) {
  const input = form.querySelector("input");
  form.hidden = false;
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (input.value >= 1) location.href = `${form.dataset.jump}${Math.floor(input.value)}a.html`;
  });
}

// Of a list of matches, the rows that fit: those on this page, and on older pages that are asked for. The choice is in
// the address, so that a link keeps it.
const PAGES_AT_ONCE = 10, ROWS_AT_ONCE = 100;
function olderPage(page) {
  return [...page.querySelectorAll("nav.pages a")].find(link => link.textContent === "Older")?.getAttribute("href");
}
function filtered(form) {
  const rows = [...document.querySelectorAll("tr[data-seats]")], chosen = new URLSearchParams(location.search);
  const [selects, status, further] = [[...form.querySelectorAll("select")], form.querySelector("[role=status]"), form.querySelector("button")];
  let pages = 1, older = fromDisk ? undefined : olderPage(document);
  const of = name => form.elements[name]?.value ?? "";
  const fits = row => {
    const seats = row.dataset.seats.split(" "), bot = form.dataset.bot ?? of("bot"), opponent = of("opponent");
    const own = seats.flatMap((entrant, seat) => (bot === "" || entrant === bot) && (of("seat") === "" || of("seat") === String(seat)) ? [seat] : []);
    return own.some(seat => opponent === "" || seats.some((entrant, other) => other !== seat && entrant === opponent))
      && (of("end") === "" || row.dataset.ends.split(" ").includes(of("end")));
  };
  const show = () => {
    const shown = rows.filter(row => { row.hidden = !fits(row); return !row.hidden; });
    const active = selects.some(select => select.value);
    const where = pages > 1 ? `on ${pages} pages` : "on this page";
    status.textContent = active ? `${shown.length} of the ${rows.length} matches ${where}` : "";
    further.hidden = !(active && older);
    const bot = form.elements.bot?.selectedOptions[0];
    if (!bot?.value) return;
    const all = document.createElement("a");
    all.href = `bot/${Number(bot.value)}.html`;
    all.textContent = `all matches of ${bot.textContent}`;
    status.append(" · ", all);
  };
  const lookFurther = async () => {
    further.disabled = true;
    const [most, until] = [pages + PAGES_AT_ONCE, rows.filter(fits).length + ROWS_AT_ONCE];
    while (older && pages < most && rows.filter(fits).length < until) {
      const answer = await fetch(older);
      if (!answer.ok) break;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = [...page.querySelectorAll("tr[data-seats]")];
      rows[0].parentElement.append(...found);
      rows.push(...found);
      [pages, older] = [pages + 1, olderPage(page)];
    }
    further.disabled = false;
    show();
  };
  further.addEventListener("click", () => lookFurther().catch(() => { further.disabled = false; }));
  selects.forEach(select => {
    if ([...select.options].some(option => option.value === chosen.get(select.name))) select.value = chosen.get(select.name);
    select.addEventListener("change", () => {
      selects.forEach(each => { if (each.value) chosen.set(each.name, each.value); else chosen.delete(each.name); });
      try { history.replaceState(null, "", `${location.pathname}${chosen.size ? `?${chosen}` : ""}${location.hash}`); } catch { /* a page from a disk */ }
      show();
    });
  });
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  show();
}

const AGO = [[31536000, "year"], [2592000, "month"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
function tell(time) {
  const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
  const [unit, name] = AGO.find(([unit]) => Math.abs(seconds) >= unit) ?? [1, "second"];
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.round(seconds / unit), name);
  time.dataset.text ??= time.textContent;
  if (Number.isFinite(seconds)) time.textContent = `${time.dataset.text} (${words})`;
}

function begin(within) {
  within.querySelectorAll("table[data-sort]").forEach(sortable);
  within.querySelectorAll("form[data-search]").forEach(searchable);
  within.querySelectorAll("form[data-jump]").forEach(jumping);
  within.querySelectorAll("form[data-filter]").forEach(filtered);
  within.querySelectorAll("time[datetime]").forEach(tell);
}
const served = document.getElementById("main").innerHTML;
begin(document);

// Where a server shows it, a page follows what happens: its content is fetched again when it has changed.
const SPREAD_MS = 1500, AGAIN_MS = 5000;
const here = document.body.dataset.live === undefined ? null : new URL(document.body.dataset.live || "./", location.href);
const was = new WeakMap();
let version = null, fetching = false, stale = false;

function remembered(main) {
  const tables = [...main.querySelectorAll("table[data-sort]")].map(table => {
    const column = [...table.tHead.rows[0].cells].findIndex(head => head.hasAttribute("aria-sort"));
    return [column, table.tHead.rows[0].cells[column]?.getAttribute("aria-sort")];
  });
  return { tables, open: [...main.querySelectorAll("details")].map(each => each.open), moved: [...main.querySelectorAll(".wide")].map(each => each.scrollLeft) };
}

function recalled(main, { tables, open, moved }) {
  main.querySelectorAll("details").forEach((each, at) => { if (open[at] !== undefined) each.open = open[at]; });
  main.querySelectorAll("table[data-sort]").forEach((table, at) => {
    const [column, order] = tables[at] ?? [-1];
    const head = column < 0 ? null : table.tHead.rows[0].cells[column];
    for (let click = 0; head && click < 2 && head.getAttribute("aria-sort") !== order; click += 1) head.querySelector("button").click();
  });
  main.querySelectorAll(".wide").forEach((each, at) => { if (moved[at]) each.scrollLeft = moved[at]; });
}

async function renew() {
  const main = document.getElementById("main");
  if (fetching || main.querySelector("input:focus, summary:focus, :popover-open")) { stale = true; return; }
  fetching = true;
  stale = false;
  try {
    const answer = await fetch(location.href, { cache: "no-cache" });
    if (answer.ok) {
      const made = new DOMParser().parseFromString(await answer.text(), "text/html");
      const parts = document.getElementById("live") ? "[data-renew]" : "#main, footer [data-renew]";
      const kept = remembered(main);
      for (const [at, old] of [...document.querySelectorAll(parts)].entries()) {
        const fresh = made.querySelectorAll(parts)[at];
        if (!fresh || fresh.innerHTML === was.get(old)) continue;
        was.set(old, fresh.innerHTML);
        old.replaceChildren(...fresh.childNodes);
        begin(old);
        recalled(old, kept);
        document.title = made.title;
      }
    }
  } catch { /* The server is away. The stream says when it is back. */ }
  fetching = false;
  if (stale) setTimeout(renew, SPREAD_MS);
}

function follow() {
  const slug = location.pathname.slice(here.pathname.length).split("/").slice(0, -1)[0];
  const source = new EventSource(new URL(slug ? `${slug}/events` : "events", here));
  source.onmessage = event => {
    const told = JSON.parse(event.data);
    if (told.version === version) return;
    if (told.type === "matches" && !document.querySelector("#live[data-matches]")) return;
    version = told.version;
    setTimeout(renew, Math.random() * SPREAD_MS);
  };
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS * (1 + Math.random())); };
}
if (here) {
  was.set(document.getElementById("main"), served);
  follow();
}
setInterval(() => document.querySelectorAll("time[datetime]").forEach(tell), 30_000);
})();
