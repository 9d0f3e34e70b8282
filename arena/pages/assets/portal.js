// What forms of teams do beyond being sent: an invitation is taken from the address, a folder becomes an archive.
(() => {
"use strict";
const BLOCK = 512;
const SKIPPED = /(^|\/)(\.git|\.hg|__pycache__|node_modules|\.venv|__MACOSX)(\/|$)|(^|\/)\.DS_Store$/;

// The secret of an invitation is behind the `#`, which no server and no log sees; it leaves the address at once.
const join = document.querySelector("form[data-join]");
if (join && location.hash.length > 1) {
  join.elements.invitation.value = location.hash.slice(1);
  join.elements.invitation.closest("label").hidden = true;
  history.replaceState(null, "", location.pathname);
  join.elements.name.focus();
}
for (const field of document.querySelectorAll("[data-copy]")) field.addEventListener("focus", () => field.select());

const bytes = text => new TextEncoder().encode(text);
const octal = (number, width) => number.toString(8).padStart(width - 1, "0") + "\0";

// A header of ustar (POSIX.1-1988): names of up to 100 bytes, with a folder of up to 155 before them.
function header(path, size) {
  const block = new Uint8Array(BLOCK), name = bytes(path);
  let cut = -1;
  if (name.length > 100) {
    cut = name.findIndex((byte, at) => byte === 47 && name.length - at - 1 <= 100 && at <= 155);
    if (cut < 0) throw new Error(`the path ${path} is too long`);
  }
  const put = (at, value) => block.set(typeof value === "string" ? bytes(value) : value, at);
  put(0, cut < 0 ? name : name.slice(cut + 1));
  put(100, octal(0o644, 8));
  put(108, octal(0, 8));
  put(116, octal(0, 8));
  put(124, octal(size, 12));
  put(136, octal(0, 12));
  put(148, "        ");
  put(156, "0");
  put(257, "ustar\0" + "00");
  if (cut > 0) put(345, name.slice(0, cut));
  put(148, octal(block.reduce((sum, byte) => sum + byte, 0), 7) + " ");
  return block;
}

function archive(files) {
  const parts = [];
  for (const [path, file] of files) {
    parts.push(header(path, file.size), file);
    const rest = file.size % BLOCK;
    if (rest) parts.push(new Uint8Array(BLOCK - rest));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  return new Blob(parts);
}

async function entries(entry, path, found) {
  if (SKIPPED.test(path)) return;
  if (entry.isFile) {
    found.push([path, await new Promise((done, failed) => entry.file(done, failed))]);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const each of some) await entries(each, path ? `${path}/${each.name}` : each.name, found);
  }
}

function droppable(form) {
  const [file, chosen, progress, folder] = [form.elements.bot, form.querySelector(".chosen"), form.querySelector("progress"), form.querySelector(".folder")];
  let blob = null, name = "";
  form.elements.request.value = crypto.randomUUID?.() ?? String(Math.random());
  folder.hidden = false;
  const choose = (files, root) => {
    const kept = files.filter(([path]) => !SKIPPED.test(path));
    try { blob = archive(kept); } catch (error) { chosen.textContent = error.message; return; }
    name = `${root || "bot"}.tar`;
    file.required = false;
    file.value = "";
    const size = (blob.size / 1e6).toFixed(1);
    chosen.textContent = `${root}: ${kept.length} file${kept.length === 1 ? "" : "s"}, ${size} MB${kept.some(([path]) => path === "bot.toml") ? "" : "; there is no bot.toml at its top"}`;
  };
  file.addEventListener("change", () => { blob = null; chosen.textContent = ""; });
  folder.querySelector("input").addEventListener("change", event => {
    const files = [...event.target.files].map(each => [each.webkitRelativePath.split("/").slice(1).join("/"), each]);
    if (files.length) choose(files, event.target.files[0].webkitRelativePath.split("/")[0]);
  });
  form.addEventListener("dragover", event => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", async event => {
    event.preventDefault();
    form.classList.remove("over");
    const [item] = event.dataTransfer.items;
    const entry = item?.webkitGetAsEntry?.();
    if (entry?.isDirectory) {
      const found = [];
      await entries(entry, "", found);
      choose(found, entry.name);
    } else if (event.dataTransfer.files.length) {
      file.files = event.dataTransfer.files;
      blob = null;
      chosen.textContent = file.files[0].name;
    }
  });
  // Sent by a script, because only so is it known how much has arrived.
  form.addEventListener("submit", event => {
    event.preventDefault();
    const data = new FormData();
    for (const each of ["csrf", "request", "note"]) data.append(each, form.elements[each].value);
    data.append("bot", blob ?? file.files[0], blob ? name : file.files[0].name);
    const button = form.querySelector("button"), request = new XMLHttpRequest();
    const say = text => { chosen.textContent = text; button.disabled = false; progress.hidden = true; };
    button.disabled = true;
    progress.hidden = false;
    request.upload.addEventListener("progress", told => { if (told.lengthComputable) progress.value = told.loaded / told.total; });
    request.addEventListener("load", () => {
      if (request.status < 400) { location.href = request.responseURL; return; }
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      say(page.querySelector("main p")?.textContent || "The server refused it.");
    });
    request.addEventListener("error", () => say("The line broke: send it again. It counts once, however often it is sent."));
    request.open("POST", form.action);
    request.send(data);
  });
}
document.querySelectorAll("form[data-drop]").forEach(droppable);
})();
