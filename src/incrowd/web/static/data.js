// Opening tables: a file with progress, a path, the demo; a look inside, masked until asked.
import { api, count, make, noProblem, percent, problem, readProject, resume, say, sentence, short } from "./app.js";

const drop = document.getElementById("drop");
const file = document.getElementById("file");
const sending = document.getElementById("sending");
let request = null, project = null; // a project waits for its table

/** How the file is to be read, as far as somebody said so. */
function reading() {
  const said = ["separator", "encoding", "null", "sheet"].map((name) => [name, document.getElementById(name).value]).filter(([, value]) => value);
  if (document.getElementById("skip_bad_lines").checked) said.push(["skip_bad_lines", true]);
  return Object.fromEntries(said);
}

/** A file that was not read may be read in another way. */
function notRead(error, status) {
  problem(error);
  if (status === 400) document.getElementById("reading").open = true;
}

/** A file with several tables: one of them is taken. */
function offer(chosen, names) {
  document.getElementById("members").replaceChildren(...names.map((name) => make("button", { type: "button", onclick: () => { document.getElementById("sheet").value = name; send(chosen); } }, make("bdi", {}, short(name)))));
}

/** Go to a table, with the project that was opened before it. */
async function enter(id, lens = "crowd") {
  if (project) await api("POST", `/tables/${id}/project`, project);
  location.href = `/tables/${id}/${project ? "candidates#reopened" : lens}`;
}

/** A table, a project that then waits for its table, or both. */
async function receive(files) {
  const isProject = (one) => one.name.endsWith(".incrowd"), tables = files.filter((one) => !isProject(one)), projects = files.filter(isProject);
  try {
    if (tables.length > 1 || projects.length > 1) throw new Error("One file at a time, please; a table and its project may come together.");
    noProblem();
    if (projects.length) {
      project = await readProject(projects[0]);
      document.getElementById("project-waits").textContent = `The project of ${short(String(project.table?.name))} waits for its table: choose the same file, or next year's.`;
    }
    if (tables.length) send(tables[0]);
  } catch (error) { problem(error); }
}

/** Send a file so that the browser tells how far it is; fetch cannot. */
function send(chosen) {
  noProblem();
  offer(chosen, []);
  request?.abort();
  const form = new FormData();
  form.append("file", chosen);
  request = new XMLHttpRequest();
  const bar = sending.querySelector("progress"), words = sending.querySelector("span");
  request.upload.onprogress = (event) => {
    const share = event.lengthComputable ? event.loaded / event.total : 0;
    bar.value = share;
    words.textContent = share < 1 ? `Sending ${chosen.name}: ${percent(share)}` : `Reading ${chosen.name}…`;
  };
  request.onload = () => {
    sending.hidden = true;
    let answer = null;
    try { answer = JSON.parse(request.responseText); } catch { answer = null; }
    if (request.status >= 200 && request.status < 300 && answer) enter(answer.id).catch(problem);
    else {
      notRead(new Error(sentence(answer?.error || `the file was not taken (status ${request.status})`)), request.status);
      offer(chosen, answer?.choices ?? []);
    }
  };
  request.onerror = () => { sending.hidden = true; problem(new Error("The file could not be sent. Is it still there, and incrowd still running?")); };
  request.onabort = () => { sending.hidden = true; say("Cancelled."); };
  bar.value = 0;
  words.textContent = `Sending ${chosen.name}…`;
  sending.hidden = false;
  say(`Sending ${chosen.name}.`);
  request.open("POST", `/api/v1/tables?${new URLSearchParams(reading())}`);
  request.send(form);
}

file.addEventListener("change", () => { receive([...file.files]); file.value = ""; });
document.getElementById("stop-sending").addEventListener("click", () => request?.abort());
for (const name of ["dragenter", "dragover"]) {
  window.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
}
window.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
window.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  receive([...event.dataTransfer.files]);
});

/** Open a table without sending it; how long it takes is not known beforehand, so the seconds are told. */
async function opened(form, path, body, doing, lens) {
  noProblem();
  const button = form.querySelector("button[type=submit]"), bar = form.querySelector(".opening");
  const began = Date.now(), words = bar.querySelector("span");
  const tick = () => { const seconds = Math.round((Date.now() - began) / 1000); words.textContent = seconds ? `${doing} ${seconds} s` : doing; };
  const timer = setInterval(tick, 1000);
  tick();
  bar.hidden = false;
  button.disabled = true;
  say(doing);
  try {
    const made = await api("POST", path, body);
    await enter(made.id, lens);
  } catch (error) {
    notRead(error, error.status);
    clearInterval(timer);
    bar.hidden = true;
    button.disabled = false;
  }
}

document.getElementById("open").addEventListener("submit", (event) => {
  event.preventDefault();
  const path = document.getElementById("path");
  if (path) opened(event.target, "/tables/open", { path: path.value.trim(), reading: reading() }, "Reading the file…");
});
document.getElementById("demo").addEventListener("submit", (event) => {
  event.preventDefault();
  const rows = Number(document.getElementById("rows").value);
  opened(event.target, "/tables/demo", { rows }, `Inventing ${count(rows)} stays…`);
});

document.getElementById("guided").addEventListener("click", () => {
  opened(document.getElementById("demo"), "/tables/demo", { rows: 1000 }, "Inventing 1,000 stays…", "crowd#tour");
});

/** The columns with what they hold, and some rows: masked, or as they are. */
async function look(id, place, values) {
  const [about, preview] = await Promise.all([
    api("GET", `/tables/${id}`), api("GET", `/tables/${id}/preview?show=${values}&rows=${values ? 10 : 1}`), // masked, all rows are alike
  ]);
  const facts = new Map(about.columns.map((column) => [column.name, column]));
  const heads = preview.columns.map((name) => {
    const fact = facts.get(name);
    const said = fact ? `${fact.type}${fact.distinct === null ? "" : ` · ${count(fact.distinct)} distinct`}${fact.nulls ? ` · ${count(fact.nulls)} missing` : ""}` : "";
    return make("th", { scope: "col" }, make("bdi", {}, short(name)), make("small", {}, said));
  });
  const rows = preview.rows.map((row) => make("tr", {}, row.map((cell) => make("td", preview.masked ? { class: "masked" } : {}, make("bdi", {}, short(cell, 80))))));
  const button = make("button", { type: "button", "aria-pressed": String(values), onclick: () => shown(id, place, !values) }, values ? "Hide the values" : "Show the values");
  place.replaceChildren(
    make("p", { class: "row" }, button, make("span", { class: "soft small" }, values
      ? "These are values of real people: mind who looks over your shoulder." : "Values are hidden; only their kind is shown.")),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The first rows" },
      make("table", {}, make("caption", {}, values ? `The first ${preview.rows.length} of ${count(about.rows)} rows` : `What the ${count(about.rows)} rows hold`), make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows))),
    ...(about.notes || []).map((note) => make("p", { class: "note" }, sentence(note))),
  );
  return button;
}

async function shown(id, place, values) {
  try { await look(id, place, values); place.querySelector("button").focus(); } catch (error) { problem(error); }
}

for (const item of document.querySelectorAll(".tables li")) {
  const id = item.dataset.table, place = item.querySelector(".preview"), button = item.querySelector(".look");
  button.addEventListener("click", async () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    place.hidden = open;
    if (open) return;
    try { await look(id, place, false); } catch (error) { problem(error); }
  });
  item.querySelector(".remove").addEventListener("click", async () => {
    if (!confirm("Remove this table and everything found about it?")) return;
    try { await api("DELETE", `/tables/${id}`); location.reload(); } catch (error) { problem(error); }
  });
}
document.getElementById("delete-all")?.addEventListener("click", async () => {
  if (!confirm("Delete all tables, results and files of this browser? This cannot be undone.")) return;
  try {
    for (const item of document.querySelectorAll(".tables li")) await api("DELETE", `/tables/${item.dataset.table}`);
    for (const job of await api("GET", "/jobs")) await api("DELETE", `/jobs/${job.id}`);
    location.reload();
  } catch (error) { problem(error); }
});
resume().catch(problem);
for (const button of document.querySelectorAll("button[type=submit]")) button.disabled = false; // they work from now on
