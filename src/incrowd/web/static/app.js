// What every page of the app shares: asking the API, work in the background, messages, undo, the choice of a table.

export { written } from "./numbers.js";
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

/** Put children into a place. What is there already stays the same element: a click that has begun on it is not lost. */
export function patch(place, children) {
  const before = [...place.childNodes], after = children.map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  after.forEach((made, index) => {
    const old = before[index];
    if (!old) place.append(made);
    else if (old.nodeName !== made.nodeName || old.dataset?.column !== made.dataset?.column || old.dataset?.job !== made.dataset?.job) old.replaceWith(made);
    else if (made.nodeType === Node.TEXT_NODE) old.data = made.data;
    else become(old, made);
  });
  for (const left of before.slice(after.length)) left.remove();
}

function become(old, made) {
  for (const name of old.getAttributeNames()) if (name !== "style" && !made.hasAttribute(name) && !(name === "open" && old.matches(".conditions"))) old.removeAttribute(name);
  for (const name of made.getAttributeNames()) if (name !== "style" && old.getAttribute(name) !== made.getAttribute(name)) old.setAttribute(name, made.getAttribute(name));
  old.style.cssText = made.style.cssText; // the policy forbids styles as attributes
  old.onclick = made.onclick;
  old.onchange = made.onchange;
  patch(old, [...made.childNodes]);
  if (["INPUT", "SELECT", "TEXTAREA"].includes(old.nodeName)) {
    old.disabled = made.disabled;
    if (old !== document.activeElement) old.value = made.value; // what is being typed stays
  }
}

/** Turns at one question: call it before asking, and what it gives once the answer is there: whether nothing newer was asked. */
export function turns() {
  let last = 0;
  return () => { const mine = ++last; return () => mine === last; };
}

/** Ask the API; the answer as JSON, or an Error with the API's own sentence. */
export async function api(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
    options.keepalive = method === "PATCH" && options.body.length < 30000; // a change outlives a click on the next page
  }
  let answer;
  try {
    answer = await fetch("/api/v1" + path, options);
  } catch {
    throw new Error("The app does not answer. Is incrowd still running? Start it again, and open the address that incrowd serve prints: it has a new key.");
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

/** A project file, as the server takes it. */
export async function readProject(file) {
  try { return JSON.parse(await file.text()); } catch { throw new Error("This is not a project file: it is not JSON. Choose a file that ends in .incrowd."); }
}

/** A message of the library as a sentence: a capital letter, a full stop. */
export function sentence(text) {
  const trimmed = String(text).trim();
  const first = /^[a-z]+[ ,:;]/.test(trimmed) ? trimmed.charAt(0).toUpperCase() : trimmed.charAt(0); // a file's name stays
  return first + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? "" : ".");
}

/** A name or cell as it may be shown: not endless, and without letters that turn the text around them. */
export function short(text, most = 60) {
  const plain = text.slice(0, most + 1).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\ufffd");
  return plain.length > most ? plain.slice(0, most - 1) + "…" : plain;
}

export const count = (number) => Math.round(number).toLocaleString("en-US");

/** A share as `percent` in wording.py writes it: one number looks the same on every page. */
export function percent(share) {
  if (share === 0 || share === 1) return `${100 * share}%`;
  if (share > 0.9999) return "over 99.99%";
  if (share < 1e-9) return "below 0.0000001%";
  if (share < 1e-3) return (100 * share).toFixed(-1 - Math.floor(Math.log10(share))) + "%";
  return (100 * share).toFixed(share < 0.1 || share > 0.99 ? 2 : 1) + "%";
}

/** Tell people who do not see the page. */
export function say(text) { document.getElementById("said").textContent = text; }

export function problem(error) {
  const place = document.getElementById("problem");
  const close = make("button", { type: "button", class: "quiet", onclick: () => place.replaceChildren() }, "Close");
  place.replaceChildren(make("div", { class: "problem" }, make("span", {}, error.message || String(error)), close));
}
export function noProblem() { document.getElementById("problem").replaceChildren(); }

/** Call at most once every `milliseconds`, with the last arguments. */
export function settled(action, milliseconds = 250) {
  let timer = null;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => action(...given), milliseconds); };
}

/* ---------------------------------------------------------------- work in the background */

const NAMES = { assessment: "Assessing", forecast: "Forecasting", points: "Forecasting", leak: "Leak", protection: "Protecting", solution: "Looking for the least loss", frontier: "Comparing methods", release: "Report of a protected table", attack: "Attacking", curve: "Measuring a curve", check: "Checking the law", itemsets: "Counting sets of items", sets: "Protecting items and points", masked: "Counting what fits", regeneration: "Filling masked cells", techniques: "Comparing techniques", simulation: "Simulating leaks" };
export const over = (job) => ["done", "failed", "cancelled"].includes(job.state);
const watchers = [];
export const known = new Map(); // jobs as they were last heard of
let timer = null;

/** Call `action(job)` on every change of a job that `wanted(job)` accepts. */
export function watch(wanted, action) { watchers.push([wanted, action]); }

/** Follow a job from now on; the page's tray shows it until it is over. */
export function follow(job) {
  changed(job);
  if (!over(job) && timer === null) timer = setTimeout(poll, 150);
  return job;
}

function changed(job) {
  const before = known.get(job.id);
  if (before && over(before) && !over(job)) return; // an answer from before it was over, come late
  known.set(job.id, job);
  if (before && ["state", "progress", "stage", "stages", "stale", "question_changed"].every((name) => before[name] === job[name])) return;
  for (const [wanted, action] of watchers) if (wanted(job)) action(job);
  showTray();
}

async function poll() {
  timer = null;
  const open = [...known.values()].filter((job) => !over(job));
  const answers = await Promise.all(open.map((job) => api("GET", "/jobs/" + job.id).catch((error) => ({ ...job, state: "failed", message: error.message }))));
  answers.forEach(changed);
  if ([...known.values()].some((job) => !over(job))) timer = setTimeout(poll, 300);
}

export async function cancel(job) {
  try {
    const now = await api("POST", `/jobs/${job.id}/cancel`);
    changed(now);
    say(now.state === "cancelled" ? "Cancelled." : "It was over already.");
  } catch (error) { problem(error); }
}

export function bar(job) {
  const value = job.progress === null || job.progress === undefined ? {} : { value: job.progress };
  return make("progress", { max: 1, ...value, "aria-label": `${NAMES[job.kind] || job.kind}: ${job.stage || job.state}` });
}

const shownInPage = (job) => document.querySelector(`.waiting[data-job="${CSS.escape(job.id)}"]`) !== null;

function showTray() {
  const tray = document.getElementById("jobs");
  const open = [...known.values()].filter((job) => !over(job) && !shownInPage(job) && job.kind !== "leak");
  tray.hidden = open.length === 0;
  tray.replaceChildren(make("h2", {}, "In the background"), make("ul", {}, open.map((job) => make("li", {},
    make("div", { class: "line" }, make("span", {}, `${NAMES[job.kind] || job.kind}${job.stage ? ": " + job.stage : "…"}`),
      make("button", { type: "button", onclick: () => cancel(job), "aria-label": `Cancel: ${NAMES[job.kind] || job.kind}` }, "Cancel")),
    bar(job)))));
}

document.addEventListener("looked", showTray); // what one lens shows is in the background of the others

/** Start work and follow it. */
export async function start(path, body) {
  noProblem();
  return follow(await api("POST", path, body));
}

/** All jobs of this browser; those still at work are followed again after a reload, and of the others the best of each kind. */
export async function resume() {
  const jobs = await api("GET", "/jobs"), best = new Map();
  const worth = (job) => (job.state === "done" ? 2 : job.has_result ? 1 : 0); // the whole answer, a part of one, none
  for (const job of jobs) { // the newest first
    const kind = `${job.kind} ${job.table}`;
    if (!over(job) || job.kind === "release") follow(job);
    else if (!best.has(kind) || worth(job) > worth(best.get(kind))) best.set(kind, job);
  }
  best.forEach(follow);
  return jobs;
}

/** Ask again which of the results that are known have become out of date, or are not any more. */
export async function refreshJobs() {
  const isNewest = refreshed(), jobs = await api("GET", "/jobs");
  if (isNewest()) for (const job of jobs) if (over(job) && known.has(job.id)) changed(job);
}
const refreshed = turns();

/* ---------------------------------------------------------------- settings, undo, the header */

/** The settings as they are kept; asked again where a change was made meanwhile. */
export async function settings() {
  if (!table) return null;
  for (;;) {
    const before = writes, state = await api("GET", `/tables/${table}/settings`);
    if (before === writes) return taken(state);
  }
}

/** Keep what has changed, and only that: another page may have changed something else. */
export async function save(changes) {
  document.getElementById("undo").disabled = false; // at once: a step back waits for the change
  saving = saving.catch(() => null).then(() => writing("PATCH", "", changes)); // in the order of the clicks
  return taken(await saving);
}
let saving = Promise.resolve(), writes = 0; // writes that have begun or ended

async function writing(method, path, body) {
  writes += 1;
  try { return await api(method, `/tables/${table}/settings${path}`, body); } finally { writes += 1; }
}

/** The settings of an answer; the buttons show whether there is a step back or forward. */
function taken(state) {
  const undo = document.getElementById("undo"), redo = document.getElementById("redo");
  undo.disabled = !state.can_undo;
  redo.disabled = !state.can_redo;
  return state.settings;
}

async function step(which) {
  try {
    await saving.catch(() => null); // or a change that is on its way would come after the step back
    const made = taken(await writing("POST", `/${which}`));
    document.dispatchEvent(new CustomEvent("stepped", { detail: made }));
    say(which === "undo" ? "Undone." : "Done again.");
  } catch (error) { problem(error); }
}

document.getElementById("undo")?.addEventListener("click", () => step("undo"));
document.getElementById("redo")?.addEventListener("click", () => step("redo"));
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea")) return;
  const key = event.key.toLowerCase();
  const which = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : null;
  const button = which && document.getElementById(which);
  if (button && !button.disabled) { event.preventDefault(); step(which); }
});
document.getElementById("pick-table")?.addEventListener("change", (event) => {
  if (event.target.value) location.href = `/tables/${event.target.value}/${document.body.dataset.lens ?? "crowd"}`;
});

/** Copy buttons: the text of the element they name. */
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const source = document.getElementById(button.getAttribute("aria-controls"));
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
    say("Copied.");
  } catch {
    getSelection().selectAllChildren(source);
    say("Selected; copy it with the keyboard.");
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});
