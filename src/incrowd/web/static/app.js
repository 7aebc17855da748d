// What all pages use: requests to the API, elements, messages, jobs, settings with undo, the choice of a table.
import { stepInWords } from "./trail.js";

export const table = document.body.dataset.table || null;

/** An element with attributes and children; text is always text, never markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Replace the children of an element, but update existing elements in place, so that a click that has begun on one is not lost. */
export function patch(place, children) {
  const before = [...place.childNodes], after = children.map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  after.forEach((made, index) => {
    const old = before[index];
    if (!old) place.append(made);
    else if (old.nodeName !== made.nodeName || old.dataset?.column !== made.dataset?.column || old.dataset?.job !== made.dataset?.job) old.replaceWith(made);
    else if (made.nodeType === Node.TEXT_NODE) old.data = made.data;
    else updateElement(old, made);
  });
  for (const left of before.slice(after.length)) left.remove();
}

function updateElement(old, made) {
  for (const name of old.getAttributeNames()) if (name !== "style" && !made.hasAttribute(name) && !(name === "open" && old.closest(".condition"))) old.removeAttribute(name);
  for (const name of made.getAttributeNames()) if (name !== "style" && old.getAttribute(name) !== made.getAttribute(name)) old.setAttribute(name, made.getAttribute(name));
  old.style.cssText = made.style.cssText; // the content security policy forbids style attributes
  old.onclick = made.onclick;
  old.onchange = made.onchange;
  patch(old, [...made.childNodes]);
  if (["INPUT", "SELECT", "TEXTAREA"].includes(old.nodeName)) {
    old.disabled = made.disabled;
    if (old !== document.activeElement) old.value = made.value; // do not overwrite what the user is typing
  }
}

/** Counts requests of one kind: call the result before a request; it returns a function that is true if no newer request has begun. */
export function requestCounter() {
  let last = 0;
  return () => { const mine = ++last; return () => mine === last; };
}

/** Send a request to the API; returns the response's JSON, or throws an Error with the API's message. */
export async function api(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
    options.keepalive = method === "PATCH" && options.body.length < 30000; // the request continues if the page is left
  }
  let answer;
  try {
    answer = await fetch("/api/v1" + path, options);
  } catch {
    throw new Error("The app does not answer. Is incrowd still running? Start it again and reload this page; if it then asks for a key, open the address that incrowd serve prints.");
  }
  const text = await answer.text();
  let said = null;
  try { said = text ? JSON.parse(text) : null; } catch { said = null; }
  if (!answer.ok) {
    const trouble = new Error(sentence(said?.error || `the app answered with status ${answer.status}`));
    trouble.status = answer.status;
    throw trouble;
  }
  return said;
}

/** The content of a project file. */
export async function readProject(file) {
  try { return JSON.parse(await file.text()); } catch { throw new Error("This is not a project file: it is not JSON. Choose a file that ends in .incrowd."); }
}

/** A message of the library as a sentence: a capital letter, a full stop. */
export function sentence(text) {
  const trimmed = String(text).trim();
  const first = /^[a-z]{2,}[ ,:;]/.test(trimmed) ? trimmed.charAt(0).toUpperCase() : trimmed.charAt(0); // the name of a file, l, k and t keep their case
  return first + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? "" : ".");
}

/** A name or cell, shortened, and without control characters, which could reverse the text around it. */
export function shorten(text, most = 60) {
  const plain = text.slice(0, most + 1).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\ufffd");
  return plain.length > most ? plain.slice(0, most - 1) + "…" : plain;
}

export const count = (number) => Math.round(number).toLocaleString("en-US");

/** A share in the same format as `percent` of wording.py. */
export function percent(share) {
  if (share === 0 || share === 1) return `${100 * share}%`;
  if (share > 0.9999) return "over 99.99%";
  if (share < 1e-9) return "below 0.0000001%";
  if (share < 1e-3) return (100 * share).toFixed(-1 - Math.floor(Math.log10(share))) + "%";
  return (100 * share).toFixed(share < 0.1 || share > 0.99 ? 2 : 1) + "%";
}

/** Announce a text to screen readers. */
export function announce(text) { document.getElementById("said").textContent = text; }

export function showProblem(error) {
  const place = document.getElementById("problem");
  const close = make("button", { type: "button", class: "quiet", onclick: () => place.replaceChildren() }, "Close");
  place.replaceChildren(make("div", { class: "problem" }, make("span", {}, error.message || String(error)), close));
}
export function clearProblem() { document.getElementById("problem").replaceChildren(); }

/** A function that calls `action` with the last arguments once it was not called for some milliseconds. */
export function debounced(action, milliseconds = 250) {
  let timer = null;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => action(...given), milliseconds); };
}

/* ---------------------------------------------------------------- jobs */

const JOB_NAMES = { assessment: "Assessing", forecast: "Forecasting", points: "Forecasting", leak: "Leak", protection: "Protecting", solution: "Looking for the least loss", frontier: "Comparing methods", release: "Report of a protected table", attack: "Attacking", curve: "Measuring a curve", check: "Checking the law", itemsets: "Counting sets of items", sets: "Protecting items and points", masked: "Counting what fits", regeneration: "Filling masked cells", techniques: "Comparing techniques", simulation: "Simulating leaks" };
export const isFinished = (job) => ["done", "failed", "cancelled"].includes(job.state);
const watchers = [];
export const knownJobs = new Map(); // by id, in their last known state
let timer = null;

/** Call `action(job)` on every change of a job that `wanted(job)` accepts. */
export function onJobChange(wanted, action) { watchers.push([wanted, action]); }

/** Poll a job until it is finished; meanwhile the page's list of jobs shows it. */
export function followJob(job) {
  jobChanged(job);
  if (!isFinished(job) && timer === null) timer = setTimeout(poll, 150);
  return job;
}

function jobChanged(job) {
  const before = knownJobs.get(job.id);
  if (before && isFinished(before) && !isFinished(job)) return; // a late response from before the end
  knownJobs.set(job.id, job);
  if (before && ["state", "progress", "stage", "stages", "stale", "question_changed"].every((name) => before[name] === job[name])) return;
  for (const [wanted, action] of watchers) if (wanted(job)) action(job);
  showTray();
}

async function poll() {
  timer = null;
  const open = [...knownJobs.values()].filter((job) => !isFinished(job));
  const answers = await Promise.all(open.map((job) => api("GET", "/jobs/" + job.id).catch((error) => ({ ...job, state: "failed", message: error.message }))));
  answers.forEach(jobChanged);
  if ([...knownJobs.values()].some((job) => !isFinished(job))) timer = setTimeout(poll, 300);
}

export async function cancelJob(job) {
  try {
    const now = await api("POST", `/jobs/${job.id}/cancel`);
    jobChanged(now);
    announce(now.state === "cancelled" ? "Cancelled." : "It was finished already.");
  } catch (error) { showProblem(error); }
}

export function progressBar(job) {
  const value = job.progress === null || job.progress === undefined ? {} : { value: job.progress };
  return make("progress", { max: 1, ...value, "aria-label": `${JOB_NAMES[job.kind] || job.kind}: ${job.stage || job.state}` });
}

const isShownInPage = (job) => document.querySelector(`.waiting[data-job="${CSS.escape(job.id)}"]`) !== null;

function showTray() {
  const tray = document.getElementById("jobs");
  const open = [...knownJobs.values()].filter((job) => !isFinished(job) && !isShownInPage(job) && job.kind !== "leak");
  tray.hidden = open.length === 0;
  const folded = tray.querySelector("details")?.open === false || (!tray.childElementCount && innerWidth < 1060), elsewhere = (job) => (job.table === table ? "" : ` (${document.querySelector(`#pick-table option[value="${job.table}"]`)?.textContent ?? "another table"})`);
  tray.replaceChildren(make("details", { open: !folded }, make("summary", {}, `In the background (${open.length})`), make("ul", {}, open.map((job) => make("li", {},
    make("div", { class: "line" }, make("span", {}, `${JOB_NAMES[job.kind] || job.kind}${elsewhere(job)}${job.stage ? ": " + job.stage : "…"}`),
      make("button", { type: "button", onclick: () => cancelJob(job), "aria-label": `Cancel: ${JOB_NAMES[job.kind] || job.kind}` }, "Cancel")),
    progressBar(job))))));
}

document.addEventListener("lens-shown", showTray); // progress that one lens shows is listed under the others

/** Start a job and follow it. */
export async function startJob(path, body) {
  clearProblem();
  return followJob(await api("POST", path, body));
}

/** All jobs of this session. After a reload, unfinished ones are followed again, and of each kind the most complete finished one. */
export async function resumeJobs() {
  const jobs = await api("GET", "/jobs"), best = new Map();
  const worth = (job) => (job.state === "done" ? 2 : job.has_result ? 1 : 0); // a finished result, a part of one, none
  for (const job of jobs) { // the newest first
    const kind = `${job.kind} ${job.table}`;
    if (!isFinished(job) || job.kind === "release") followJob(job);
    else if (!best.has(kind) || worth(job) > worth(best.get(kind))) best.set(kind, job);
  }
  best.forEach(followJob);
  return jobs;
}

/** Request again which known results are stale. */
export async function refreshJobs() {
  const isNewest = countRefresh(), jobs = await api("GET", "/jobs");
  if (isNewest()) for (const job of jobs) if (isFinished(job) && knownJobs.has(job.id)) jobChanged(job);
}
const countRefresh = requestCounter();

/* ---------------------------------------------------------------- settings, undo, the header */

/** The settings on the server; requested again if they were changed meanwhile. */
export async function loadSettings() {
  if (!table) return null;
  for (;;) {
    const before = writes, state = await api("GET", `/tables/${table}/settings`);
    if (before === writes) return settingsFrom(state);
  }
}

/** Save the changes, and only them, since another page may have changed other settings. */
export async function saveSettings(changes) {
  document.getElementById("undo").disabled = false; // at once: undo waits for the change
  saving = saving.catch(() => null).then(() => writeSettings("PATCH", "", changes)); // in the order of the clicks
  return settingsFrom(await saving);
}
let saving = Promise.resolve(), writes = 0; // counts the starts and ends of writes

async function writeSettings(method, path, body) {
  writes += 1;
  try { return await api(method, `/tables/${table}/settings${path}`, body); } finally { writes += 1; }
}

/** The settings of a response; enables the buttons for undo and redo. */
function settingsFrom(state) {
  const undo = document.getElementById("undo"), redo = document.getElementById("redo");
  undo.disabled = !state.can_undo;
  redo.disabled = !state.can_redo;
  return state.settings;
}

async function undoOrRedo(which) {
  try {
    await saving.catch(() => null); // otherwise a pending change would be saved after the undo
    const made = settingsFrom(await writeSettings("POST", `/${which}`));
    document.dispatchEvent(new CustomEvent("settings-restored", { detail: made }));
    const [last] = (await api("GET", `/tables/${table}/trail`)).slice(-1), said = shorten(sentence(stepInWords(last)), 100);
    document.getElementById("undone").textContent = said;
    announce(said);
  } catch (error) { showProblem(error); }
}

document.getElementById("undo")?.addEventListener("click", () => undoOrRedo("undo"));
document.getElementById("redo")?.addEventListener("click", () => undoOrRedo("redo"));
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea")) return;
  const key = event.key.toLowerCase();
  const which = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : null;
  const button = which && document.getElementById(which);
  if (button && !button.disabled) { event.preventDefault(); undoOrRedo(which); }
});
document.getElementById("pick-table")?.addEventListener("change", (event) => {
  if (event.target.value) location.href = `/tables/${event.target.value}/${document.body.dataset.lens ?? "crowd"}`;
});

/** Copy buttons copy the text of the element that they control. */
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const source = document.getElementById(button.getAttribute("aria-controls"));
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
    announce("Copied.");
  } catch {
    getSelection().selectAllChildren(source);
    announce("Selected; copy it with the keyboard.");
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});
