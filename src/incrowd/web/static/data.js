// The first page: upload with progress, opening by path, the demo, and previews that are masked until the user shows the values.
import { announce, api, clearProblem, count, labelValues, make, percent, readProject, scrollingTable, sentence, shorten, showProblem } from "./app.js";
import { resumeJobs } from "./jobs.js";

const drop = document.getElementById("drop");
const file = document.getElementById("file");
const uploadProgress = document.getElementById("sending");
let request = null, project = null; // a project that was chosen before its table

/** The reading options that are set in the form. */
function readingOptions() {
  const said = ["separator", "encoding", "null", "sheet"].map((name) => [name, document.getElementById(name).value]).filter(([, value]) => value);
  if (document.getElementById("skip_bad_lines").checked) said.push(["skip_bad_lines", true]);
  return Object.fromEntries(said);
}

/** Show an error; for a file that cannot be read, also the form of the reading options. */
function showReadError(error, status) {
  showProblem(error);
  if (status === 400) document.getElementById("reading").open = true;
}

/** Offer the tables of a file that holds several. */
function offerTables(chosen, names) {
  document.getElementById("members").replaceChildren(...names.map((name) => make("button", { type: "button", onclick: () => { document.getElementById("sheet").value = name; uploadFile(chosen); } }, make("bdi", {}, shorten(name)))));
}

/** Go to a table, and load the project that was chosen before it. */
async function goToTable(id, hash = "") {
  if (project) await api("POST", `/tables/${id}/project`, project);
  location.href = `/tables/${id}/${project ? "safe#reopened" : `who${hash}`}`;
}

/** Receive a table, a project (kept until its table is opened), or both. */
async function receiveFiles(files) {
  const isProject = (one) => one.name.endsWith(".incrowd"), tables = files.filter((one) => !isProject(one)), projects = files.filter(isProject);
  try {
    if (tables.length > 1 || projects.length > 1) throw new Error("One file at a time, please; a table and its project may come together.");
    clearProblem();
    if (projects.length) {
      project = await readProject(projects[0]);
      document.getElementById("project-waits").textContent = `The project of ${shorten(String(project.table?.name))} waits for its table: choose the same file, or next year's.`;
    }
    if (tables.length) uploadFile(tables[0]);
  } catch (error) { showProblem(error); }
}

/** Upload a file. XMLHttpRequest reports progress, which fetch does not. */
function uploadFile(chosen) {
  clearProblem();
  offerTables(chosen, []);
  request?.abort();
  const form = new FormData();
  form.append("file", chosen);
  request = new XMLHttpRequest();
  const bar = uploadProgress.querySelector("progress"), words = uploadProgress.querySelector("span");
  request.upload.onprogress = (event) => {
    const share = event.lengthComputable ? event.loaded / event.total : 0;
    bar.value = share;
    words.textContent = share < 1 ? `Sending ${chosen.name}: ${percent(share)}` : `Reading ${chosen.name}…`;
  };
  request.onload = () => {
    uploadProgress.hidden = true;
    let answer = null;
    try { answer = JSON.parse(request.responseText); } catch { answer = null; }
    if (request.status >= 200 && request.status < 300 && answer) goToTable(answer.id).catch(showProblem);
    else {
      showReadError(new Error(sentence(answer?.error || `the file was not taken (status ${request.status})`)), request.status);
      offerTables(chosen, answer?.choices ?? []);
    }
  };
  request.onerror = () => { uploadProgress.hidden = true; showProblem(new Error("The file could not be sent. Is it still there, and incrowd still running?")); };
  request.onabort = () => { uploadProgress.hidden = true; announce("Cancelled."); };
  bar.value = 0;
  words.textContent = `Sending ${chosen.name}…`;
  uploadProgress.hidden = false;
  announce(`Sending ${chosen.name}.`);
  request.open("POST", `/api/v1/tables?${new URLSearchParams(readingOptions())}`);
  request.send(form);
}

file.addEventListener("change", () => { receiveFiles([...file.files]); file.value = ""; });
document.getElementById("stop-sending").addEventListener("click", () => request?.abort());
for (const name of ["dragenter", "dragover"]) {
  window.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
}
window.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
window.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  receiveFiles([...event.dataTransfer.files]);
});

/** Open a table by its path, or the demo. There is no progress to show, so the seconds are counted. */
async function openWithoutUpload(form, path, body, doing, hash) {
  clearProblem();
  const button = form.querySelector("button[type=submit]"), bar = form.querySelector(".opening");
  const began = Date.now(), words = bar.querySelector("span");
  const tick = () => { const seconds = Math.round((Date.now() - began) / 1000); words.textContent = seconds ? `${doing} ${seconds} s` : doing; };
  const timer = setInterval(tick, 1000);
  tick();
  bar.hidden = false;
  button.disabled = true;
  announce(doing);
  try {
    const made = await api("POST", path, body);
    await goToTable(made.id, hash);
  } catch (error) {
    showReadError(error, error.status);
    clearInterval(timer);
    bar.hidden = true;
    button.disabled = false;
  }
}

document.getElementById("open").addEventListener("submit", (event) => {
  event.preventDefault();
  const path = document.getElementById("path");
  if (path) openWithoutUpload(event.target, "/tables/open", { path: path.value.trim(), reading: readingOptions() }, "Reading the file…");
});
document.getElementById("demo").addEventListener("submit", (event) => {
  event.preventDefault();
  const rows = Number(document.getElementById("rows").value);
  openWithoutUpload(event.target, "/tables/demo", { rows }, `Inventing ${count(rows)} stays…`);
});

document.getElementById("guided").addEventListener("click", () => {
  openWithoutUpload(document.getElementById("demo"), "/tables/demo", { rows: 1000 }, "Inventing 1,000 stays…", "#tour");
});

/** Show the columns with their kinds, and the first rows if `values` is true. */
async function showPreview(id, place, values) {
  const [about, preview] = await Promise.all([
    api("GET", `/tables/${id}`), api("GET", `/tables/${id}/preview?show=${values}&rows=${values ? 10 : 1}`), // masked rows are all the same
  ]);
  const facts = new Map(about.columns.map((column) => [column.name, column]));
  const heads = preview.columns.map((name) => {
    const fact = facts.get(name);
    const said = fact ? `${fact.type}${fact.distinct === null ? "" : ` · ${count(fact.distinct)} distinct`}${fact.nulls ? ` · ${count(fact.nulls)} missing` : ""}` : "";
    return make("th", { scope: "col" }, make("bdi", {}, shorten(name)), make("small", {}, said));
  });
  const rows = preview.rows.map((row) => make("tr", {}, row.map((cell) => make("td", preview.masked ? { class: "masked" } : {}, make("bdi", {}, shorten(cell, 80))))));
  const button = labelValues(make("button", { type: "button", onclick: () => togglePreview(id, place, !values) }), values);
  place.replaceChildren(
    make("p", { class: "row" }, button, make("span", { class: "soft small" }, values
      ? "These are values of real people: mind who looks over your shoulder." : "Values are hidden; only their kind is shown.")),
    scrollingTable("The first rows", {}, values ? `The first ${preview.rows.length} of ${count(about.rows)} rows` : `What the ${count(about.rows)} rows hold`, heads, rows),
    ...(about.notes || []).map((note) => make("p", { class: "note" }, sentence(note))),
  );
  return button;
}

async function togglePreview(id, place, values) {
  try { await showPreview(id, place, values); place.querySelector("button").focus(); } catch (error) { showProblem(error); }
}

for (const item of document.querySelectorAll("#tables [data-table]")) {
  const id = item.dataset.table, place = item.querySelector(".preview"), button = item.querySelector(".look");
  button.addEventListener("click", async () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    place.hidden = open;
    if (open) return;
    try { await showPreview(id, place, false); } catch (error) { showProblem(error); }
  });
  item.querySelector(".remove").addEventListener("click", async () => {
    if (!confirm("Remove this table and everything found about it?")) return;
    try { await api("DELETE", `/tables/${id}`); location.reload(); } catch (error) { showProblem(error); }
  });
}
document.getElementById("delete-all")?.addEventListener("click", async () => {
  if (!confirm("Delete all tables, results and files of this browser? This cannot be undone.")) return;
  try {
    for (const item of document.querySelectorAll("#tables [data-table]")) await api("DELETE", `/tables/${item.dataset.table}`);
    for (const job of await api("GET", "/jobs")) await api("DELETE", `/jobs/${job.id}`);
    location.reload();
  } catch (error) { showProblem(error); }
});
document.getElementById("others")?.addEventListener("click", async (event) => {
  const name = event.target.closest("button")?.parentElement.dataset.session;
  if (!name || !confirm("Delete all tables and results of this session, which is not yours? This cannot be undone.")) return;
  try { await api("DELETE", `/sessions/${name}`); location.reload(); } catch (error) { showProblem(error); }
});
resumeJobs().catch(showProblem);
for (const button of document.querySelectorAll("button[type=submit]")) button.disabled = false; // disabled until this script has run
