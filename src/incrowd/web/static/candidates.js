// The shelf: every protection is a card with what made it, the risk that is left and the detail that is kept. Two can be compared.
import { answersOf, data, reach } from "./answers.js";
import { api, count, make, over, patch, percent, problem, say, settled, short, start, table, turns, watch } from "./app.js";
import { bench } from "./bench.js";
import { basisInWords, conditionsOf, drawAfter, thenInWords } from "./bar.js";
import { comparePinned } from "./comparison.js";
import { looking } from "./lenses.js";
import { compare, protect } from "./protect.js";
import { protectedTable } from "./protected.js";
import { inWords, setFor } from "./ways.js";

const KINDS = ["protection", "solution"];
const STAMPS = { within: "✓", undecided: "?", exposed: "!", borderline: "≈", over: "✕" };
const shelf = document.getElementById("shelf"), view = document.getElementById("candidate-view"), compared = document.getElementById("frontier-view"), section = document.getElementById("shelf-section");
const reports = new Map(); // jobs by the candidate that they are about
const PINNED = `pinned ${table}`; // in this tab: a reload does not forget it
let cards = [], pinned = JSON.parse(sessionStorage.getItem(PINNED) ?? "[]"), paired = "", picked = null, pressed = null, renaming = false;

/** What made a candidate, in words: as it stands on its card. */
export function madeBy({ protection }) {
  const { method, k, l, t, sensitive, resolution, leave_out: gone, apart, steps } = protection;
  const size = resolution === null || resolution === undefined ? `k = ${count(k)}` : typeof resolution === "number" ? `${resolution} parts` : "parts by column";
  const parts = method === "perturb" ? [method] : [method, size]; // it promises no class
  if (steps?.length) parts.push(steps.length > 4 ? `${steps.length} steps` : steps.map(({ column, action }) => `${short(column, 40)}: ${short(action, 40)}`).join("; "));
  const secrets = sensitive ? [sensitive].flat() : [];
  const named = (names) => (names.length > 2 ? `${names.length} columns` : names.map((name) => short(name, 20)).join(" and "));
  if (secrets.length) parts.push(`${named(secrets)} kept secret`);
  if (gone.length) parts.push(`${named(gone)} left out`);
  if (apart.length) parts.push(`people not asked about ${named(apart)} kept apart`);
  if (l) parts.push(`l = ${l}${protection.diverse?.length ? ` for ${named(protection.diverse)}` : ""}`);
  if (t) parts.push(`t = ${t}`);
  if (protection.k_map) parts.push(`k-map = ${count(protection.k_map)} ${protection.population_table ? "in another table" : "by an estimate"}`);
  for (const name of new Set([...Object.keys(protection.hierarchies), ...Object.keys(protection.importance)])) parts.push(`${short(name, 20)} by ${inWords(setFor(protection.hierarchies, name), setFor(protection.importance, name))}`);
  return parts.join(", ");
}

/** A share as a bar. */
function meter(name, share) {
  const filled = make("i", {});
  filled.style.width = `${100 * share}%`;
  return make("i", { class: name, "aria-hidden": "true" }, filled);
}

function card(one) {
  const decision = one.question_changed ? "outdated" : one.decision, pin = pinned.includes(one.id);
  const meters = make("div", { class: "meters" },
    make("span", { class: "soft" }, "risk"), meter("risk", one.highest), make("span", {}, `${percent(one.highest)} at most, ${basisInWords(one.highest_basis)}`),
    make("span", { class: "soft" }, "detail"), meter("detail", one.detail), make("span", {}, `${percent(one.detail)} kept ${one.detail_words}`));
  return make("li", { class: `candidate ${decision}`, "data-job": one.id, "data-current": one.id === current()?.id ? "yes" : "no" },
    make("p", { class: "headline" }, make("b", { class: "mark", "aria-hidden": "true" }, one.question_changed ? "↻" : STAMPS[one.decision]), make("bdi", {}, short(one.name, 40))),
    make("p", { class: "small soft" }, one.question_changed ? "roles, scales or the recipient have changed since: protect again" : one.headline),
    one.stale && !one.question_changed ? make("p", { class: "small soft" }, "other settings than those in the form") : null,
    one.reason && !one.question_changed ? make("p", { class: "small" }, one.reason) : null,
    one.question_changed ? null : conditionsOf(one.conditions),
    one.when_saved ? make("p", { class: "small soft" }, one.when_saved.highest === one.highest && one.when_saved.detail === one.detail ? "made again: the same as when it was saved" : `when it was saved: ${thenInWords(one.when_saved)}`) : null,
    meters,
    madeBy(one) === one.name ? null : make("p", { class: "small soft" }, madeBy(one)),
    one.question_changed ? make("p", { class: "small soft" }, short(one.file_name, 60)) : make("p", { class: "small" }, make("a", { class: "take", download: true, href: `/api/v1/jobs/${one.id}/table?format=upload` }, short(one.file_name, 60))),
    make("p", { class: "row" },
      make("button", { type: "button", class: "show", "aria-pressed": String(view.dataset.shown === one.id), onclick: () => pick(one.id) }, "Show"),
      make("button", { type: "button", class: "pin quiet", "aria-pressed": String(pin), onclick: () => togglePin(one.id) }, pin ? "Pinned" : "Pin"),
      make("button", { type: "button", class: "quiet rename", "aria-label": `Rename ${short(one.name, 40)}`, onclick: (event) => rename(one, event.target.closest(".candidate")) }, "Rename"),
      make("button", { type: "button", class: "quiet forget", "aria-label": `Remove ${short(one.name, 40)}`, onclick: () => remove(one.id) }, "Remove"),
      reportOf(one)));
}

/** The report of a candidate: asked for with a button, then there to take away. */
export function reportOf(one) {
  const job = reports.get(one.id), address = job && `/api/v1/jobs/${job.id}`;
  if (job?.state === "done") return make("span", { class: "small" }, make("a", { href: `${address}/report.html`, download: true }, "Report"), " · ", make("a", { href: `${address}/report-external.html`, download: true }, "external"), " · ", make("a", { href: `${address}/report.json`, download: true }, "numbers"));
  if (job && !over(job)) return make("span", { class: "small soft" }, "Its report is being made…");
  return make("button", { type: "button", class: "quiet report", onclick: () => start(`/jobs/${one.id}/reports`).catch(problem) }, "Make its report");
}
watch((job) => job.kind === "release" && job.table === table, (job) => {
  const before = reports.get(job.question.candidate);
  if (before && before.id !== job.id && before.created > job.created) return;
  if (before?.state === job.state) return;
  reports.set(job.question.candidate, job);
  draw();
  document.dispatchEvent(new CustomEvent("reported"));
});

/** The candidate that the bar tells of: the one picked, else the newest that the settings still ask for, else the newest. */
const current = () => cards.find((one) => one.id === picked && !one.stale) ?? cards.find((one) => !one.stale) ?? cards[0];

function draw() {
  if (!renaming) patch(shelf, cards.map(card)); // a name that is being typed stays; the end of it draws what has changed
  section.hidden = !cards.length;
  drawAfter(current());
}

const asked = turns();
export async function refresh() {
  const isNewest = asked(), found = await api("GET", `/tables/${table}/candidates`);
  if (!isNewest()) return;
  cards = found;
  pinned = pinned.filter((id) => cards.some((one) => one.id === id));
  draw();
  pair();
  document.dispatchEvent(new CustomEvent("shelved"));
}

export const shelved = () => cards;

/** Keep which are pinned, and compare them if they are others than before. */
function pair() {
  sessionStorage.setItem(PINNED, JSON.stringify(pinned));
  if (paired === pinned.join()) return;
  paired = pinned.join();
  comparePinned(pinned.map((one) => cards.find((entry) => entry.id === one))).catch(problem);
}
const refreshSoon = settled(() => refresh().then(match).catch(problem), 60);

/** After undo and redo the result that is shown is the one that the form asks for, where there is one. */
function match() {
  const fits = current();
  if (fits && !fits.stale && view.dataset.shown && view.dataset.shown !== fits.id && cards.find((one) => one.id === view.dataset.shown)?.stale) pick(fits.id);
}

async function pick(id) {
  picked = id;
  try {
    const job = await api("GET", `/jobs/${id}`);
    if (picked === id) await showJob(job);
  } catch (error) { problem(error); }
  draw();
}

function togglePin(id) {
  pinned = pinned.includes(id) ? pinned.filter((one) => one !== id) : [...pinned, id].slice(-2);
  draw();
  shelf.querySelector(`[data-job="${id}"] .pin`)?.focus();
  say(pinned.length === 2 ? "Two are pinned: they are compared below." : "Pin another to compare the two.");
  pair();
}

/** The name becomes a field; Enter keeps it, Escape leaves it as it was. */
function rename(one, place) {
  const field = make("input", { class: "new-name", value: one.name, maxlength: "100", "aria-label": `Name of ${short(one.name, 40)}` });
  let over = false;
  const end = async (keep) => {
    if (over) return;
    over = true;
    renaming = false;
    const name = field.value.trim();
    try {
      if (keep && name && name !== one.name) await api("POST", `/jobs/${one.id}/name`, { name });
      await refresh();
    } catch (error) { problem(error); draw(); }
    shelf.querySelector(`[data-job="${one.id}"] .rename`)?.focus();
  };
  field.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === "Escape") { event.preventDefault(); end(event.key === "Enter"); } });
  field.addEventListener("blur", () => end(true));
  renaming = true;
  place.querySelector(".headline bdi").replaceWith(field);
  field.select();
}

async function remove(id) {
  try {
    await api("DELETE", `/jobs/${id}`);
    if (view.dataset.shown === id) { view.replaceChildren(); delete view.dataset.shown; delete view.dataset.wanted; }
    await refresh();
  } catch (error) { problem(error); }
}

/** Whoever asked for it is led to it; after a reload nobody is moved. */
function arrived(kind, title) {
  if (pressed !== kind || looking() !== "candidates") return;
  pressed = null;
  reach(title);
}
document.addEventListener("protecting", () => { pressed = "protection"; picked = null; });
document.addEventListener("comparing", () => { pressed = "frontier"; });

const showJob = answersOf(KINDS, view, { again: () => document.getElementById("protection").requestSubmit(), shown: (job) => {
  refreshSoon();
  arrived("protection", view.querySelector(".verdict h2"));
  document.dispatchEvent(new CustomEvent("protected", { detail: job.id }));
} });
answersOf("frontier", compared, { again: () => compare().catch(problem), shown: () => arrived("frontier", compared.querySelector("h2")) });
protectedTable(view, () => protect());
watch((job) => KINDS.includes(job.kind) && job.table === table && over(job), refreshSoon);

/** A point of the comparison becomes the choice, and is applied. */
function take(index) {
  const point = data(compared, "result").points[index];
  say(`Applying ${point.words}, ${point.setting}.`);
  const emptied = Object.keys(bench.now.protection).map((name) => [name, null]); // the row and nothing else
  protect({ ...Object.fromEntries(emptied), ...point.protection }).catch(problem);
}
document.addEventListener("drawn", (event) => {
  if (event.target.id !== "figure-frontier") return;
  event.target.dataset.clickable = "yes";
  event.detail.addEventListener("click", (_, item) => { if (Number.isInteger(item?.datum?.order)) take(item.datum.order); });
});
compared.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-point]");
  if (button) take(Number(button.dataset.point));
  if (event.target.closest("button.renew")) compare().catch(problem);
});
