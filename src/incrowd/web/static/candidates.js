// The candidates: a card for each protected table, with its settings, remaining risk and detail. Two can be pinned and compared.
import { embeddedJson, focusOn, showAnswersOf } from "./answers.js";
import { announce, api, clearProblem, count, debounced, make, patch, percent, requestCounter, saveAs, sentence, shorten, showProblem, table } from "./app.js";
import { isFinished, onJobChange, startJob } from "./jobs.js";
import { bench, saveAndUse } from "./bench.js";
import { STAMPS, basisInWords, foldConditions, foldedConditions, savedInWords } from "./conditions.js";
import { comparePinned } from "./comparison.js";
import { fillExample } from "./example-record.js";
import { currentPlace, show } from "./places.js";
import { furtherInWords } from "./option-fields.js";
import { compare, protect, refuse, solve } from "./protect.js";
import { stepInWords } from "./steps.js";
import { coarseningInWords, valueFor } from "./ways.js";

const KINDS = ["protection", "solution"];
const OUTPUTS = { bounds: "two columns", midpoint: "midpoints", mean: "means", mode: "commonest values" };
const STREAMED = ["csv", "tsv", "parquet", "pq"]; // never refused for their cells, and maybe larger than memory
const shelf = document.getElementById("shelf"), view = document.getElementById("candidate-view"), frontierView = document.getElementById("frontier-view"), section = document.getElementById("shelf-section");
const reports = new Map(); // jobs of reports by candidate
const PINNED = `pinned ${table}`; // the key of the pinned candidates, which survive a reload of this tab
let cards = [], pinned = JSON.parse(sessionStorage.getItem(PINNED) ?? "[]"), comparedIds = "", picked = null, lastFitting = null, awaited = null, unlisted = null, renaming = false;

/** The settings that made a candidate, in words for its card. */
export function protectionInWords({ protection, columns_left_out: gone = protection.leave_out }) {
  const { method, k, l, t, sensitive, resolution, steps } = protection;
  const size = resolution === null || resolution === undefined ? `k = ${count(k)}` : typeof resolution === "number" ? `${resolution} parts` : "parts by column";
  const parts = method === "perturb" ? [method] : [method, size]; // no guarantee on classes
  if (steps?.length) parts.push(steps.length > 4 ? `${steps.length} steps` : steps.map((one) => stepInWords(one)).join("; "));
  const secrets = sensitive ? [sensitive].flat().filter((name) => !gone.includes(name)) : []; // one that is left out is not kept secret
  const named = (names) => (names.length > 2 ? `${names.length} columns` : names.map((name) => shorten(name, 20)).join(" and "));
  if (secrets.length) parts.push(`${named(secrets)} kept secret`);
  if (gone.length) parts.push(`${named(gone)} left out`);
  if (l) parts.push(`l = ${l}`);
  if (t) parts.push(`t = ${t}`);
  if (protection.output) parts.push(typeof protection.output === "string" ? `written as ${OUTPUTS[protection.output] ?? protection.output}` : "written by column");
  if (protection.k_map) parts.push(`k-map = ${count(protection.k_map)} ${protection.population_table ? "in another table" : "by an estimate"}`);
  const coarsened = method === "perturb" ? {} : protection.hierarchies; // by chance: no hierarchy is used
  for (const name of new Set([...Object.keys(coarsened), ...Object.keys(protection.importance)])) parts.push(`${shorten(name, 20)} by ${coarseningInWords(valueFor(coarsened, name), valueFor(protection.importance, name))}`);
  return [...parts, ...furtherInWords(protection)].join(", ");
}

/** A share drawn as a bar. */
function meter(name, share) {
  const filled = make("i", {});
  filled.style.width = `${100 * share}%`;
  return make("i", { class: name, "aria-hidden": "true" }, filled);
}

/** The highest risk of a candidate, with that before protection on the same basis. */
export function riskInWords({ highest, highest_basis: basis, highest_before: before }) {
  return `${percent(highest)} at most, ${basisInWords(basis)}${before === null ? "" : `; ${percent(before)} before`}`;
}

/** The columns that lost most, each with its own detail. */
function leastKept({ least_kept: columns }) {
  return columns.length ? make("p", { class: "small soft" }, "least kept: ", columns.flatMap((one, index) => [index ? ", " : "", make("bdi", {}, shorten(one.column, 24)), ` ${percent(one.detail)}`])) : null;
}

function cardElement(one) {
  const standing = one.question_changed ? "outdated" : one.stands, pin = pinned.includes(one.id);
  const meters = make("div", { class: "meters" },
    make("span", { class: "soft" }, "risk"), meter("risk", one.highest), make("span", {}, riskInWords(one)),
    make("span", { class: "soft" }, "unchanged"), meter("detail", one.cells_unchanged), make("span", {}, `${percent(one.cells_unchanged)} of all cells; ${count(one.columns - one.columns_left_out.length)} of ${count(one.columns)} columns kept; ${percent(one.detail)} of the detail ${one.detail_words}`));
  return make("li", { class: `candidate ${standing}`, "data-job": one.id, "data-current": one.id === current()?.id ? "yes" : "no", "data-stale": one.stale },
    make("p", { class: "headline" }, make("b", { class: "mark", "aria-hidden": "true" }, one.question_changed ? "↻" : STAMPS[one.stands]), make("bdi", {}, shorten(one.name, 80))),
    one.id === current()?.id && !one.question_changed ? null : make("p", { class: "small soft" }, one.question_changed ? "roles, scales or the recipient have changed since: protect again" : one.headline), // that of the current one is in the bar
    one.stale && !one.question_changed ? make("p", { class: "small soft" }, "other settings than those in the form") : null,
    one.reason && !one.question_changed ? make("p", { class: "small" }, one.reason) : null,
    one.question_changed || one.id === current()?.id ? null : foldedConditions(one),
    one.when_saved ? make("p", { class: "small soft" }, ["decision", "highest", "detail"].every((name) => one.when_saved[name] === one[name]) ? "made again: the same as when it was saved" : `when it was saved: ${savedInWords(one.when_saved)}`) : null,
    meters,
    leastKept(one),
    one.same_as === null ? null : make("p", { class: "small same" }, "The same table as ", make("bdi", {}, shorten(one.same_as, 80)), ": every cell is equal."),
    protectionInWords(one) === one.name ? null : make("p", { class: "small soft" }, protectionInWords(one)),
    one.question_changed ? make("p", { class: "small soft" }, shorten(one.file_name, 60)) : make("p", { class: "small" }, make("a", { class: "take", download: true, "data-ending": one.file_name.split(".").at(-1), href: `/api/v1/jobs/${one.id}/table?format=upload` }, shorten(one.file_name, 60))),
    make("p", { class: "row" },
      make("button", { type: "button", class: "show", "aria-pressed": String(view.dataset.shown === one.id), onclick: () => showCandidate(one.id) }, "Show"),
      make("button", { type: "button", class: "pin quiet", "aria-pressed": String(pin), onclick: () => togglePin(one.id) }, pin ? "Pinned" : "Pin"),
      make("button", { type: "button", class: "quiet rename", "aria-label": `Rename ${shorten(one.name, 40)}`, onclick: (event) => rename(one, event.target.closest(".candidate")) }, "Rename"),
      make("button", { type: "button", class: "quiet forget", "aria-label": `Remove ${shorten(one.name, 40)}`, onclick: () => remove(one.id) }, "Remove"),
      reportElement(one)));
}

/** A button that starts the report of a candidate; its downloads once it is finished. */
export function reportElement(one) {
  const job = reports.get(one.id), address = job && `/api/v1/jobs/${job.id}`;
  if (job?.state === "done") return make("span", { class: "small" }, make("a", { href: `${address}/report.html`, download: true }, "Report"), " · ", make("a", { href: `${address}/report-external.html`, download: true }, "external"), " · ", make("a", { href: `${address}/report.json`, download: true }, "numbers"));
  if (job && !isFinished(job)) return make("span", { class: "small soft" }, "Its report is being made…");
  return make("button", { type: "button", class: "quiet report", onclick: () => startJob(`/jobs/${one.id}/reports`).catch(showProblem) }, "Make its report");
}
onJobChange("release", (job) => {
  const before = reports.get(job.question.candidate);
  if (before && before.id !== job.id && before.created > job.created) return;
  if (before?.state === job.state) return;
  reports.set(job.question.candidate, job);
  draw();
  document.dispatchEvent(new CustomEvent("report-changed"));
});

/** The candidate whose verdict leads: the picked one if it is not stale, else the newest that is not stale, else the newest. */
export const current = (all = cards) => all.find((one) => one.id === picked && !one.stale) ?? all.find((one) => !one.stale) ?? all[0];

function draw() {
  if (!renaming) patch(shelf, cards.map(cardElement)); // not while a name is typed; the end of renaming draws again
  section.hidden = !cards.length;
  document.dispatchEvent(new CustomEvent("current-candidate", { detail: current() }));
}

const countRequest = requestCounter();
export async function refresh() {
  const isNewest = countRequest(), found = await api("GET", `/tables/${table}/candidates`);
  if (!isNewest()) return;
  cards = found;
  pinned = pinned.filter((id) => cards.some((one) => one.id === id));
  draw();
  if (cards.some(({ id }) => id === unlisted)) { // not before: its card would push it down
    unlisted = null;
    focusIfAwaited("protection", view.querySelector(".verdict h2"));
  }
  compareIfChanged();
  document.dispatchEvent(new CustomEvent("candidates-listed"));
}

export const listedCandidates = () => cards;

/** Store the pinned candidates, and compare them if others were pinned before. */
function compareIfChanged(isAwaited = false) {
  sessionStorage.setItem(PINNED, JSON.stringify(pinned));
  if (comparedIds === pinned.join()) return;
  comparedIds = pinned.join();
  comparePinned(pinned.map((one) => cards.find((entry) => entry.id === one)), isAwaited).catch(showProblem);
}
const refreshSoon = debounced(() => refresh().then(showMatching).catch(showProblem), 60);

/** After undo or redo, show the candidate of the form's settings if the one shown has become stale; one that was stale when it was chosen stays. */
function showMatching() {
  const fits = current(), seen = cards.find((one) => one.id === view.dataset.shown);
  if (seen && !seen.stale) lastFitting = seen.id;
  if (fits && !fits.stale && seen?.stale && seen.id === lastFitting) showCandidate(fits.id);
}

async function showCandidate(id) {
  picked = id;
  try {
    const job = await api("GET", `/jobs/${id}`);
    if (picked === id) await showJob(job);
  } catch (error) { showProblem(error); }
  draw();
}

function togglePin(id) {
  pinned = pinned.includes(id) ? pinned.filter((one) => one !== id) : [...pinned, id].slice(-2);
  draw();
  shelf.querySelector(`[data-job="${id}"] .pin`)?.focus();
  announce(pinned.length === 2 ? "Two are pinned: they are compared side by side." : "Pin another to compare the two.");
  compareIfChanged(true);
}

/** Turn the name of a card into a field; Enter saves it, Escape restores it. */
function rename(one, place) {
  const field = make("input", { class: "new-name", value: one.name, maxlength: "100", "aria-label": `Name of ${shorten(one.name, 40)}` });
  let over = false;
  const end = async (keep) => {
    if (over) return;
    over = true;
    renaming = false;
    const name = field.value.trim();
    try {
      if (keep && name && name !== one.name) await api("POST", `/jobs/${one.id}/name`, { name });
      await refresh();
    } catch (error) { showProblem(error); draw(); }
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
  } catch (error) { showProblem(error); }
}

/** Save a file that the server writes for the download, or throw its refusal, which the browser's own download would hide. */
export async function saveFile(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(sentence((await answer.json().catch(() => null))?.error || `the app answered with status ${answer.status}`));
  const [, name] = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get("content-disposition"));
  saveAs(decodeURIComponent(name), await answer.blob());
}
for (const place of [shelf, view]) place.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-ending]");
  if (!link || STREAMED.includes(link.dataset.ending)) return;
  event.preventDefault();
  clearProblem();
  announce("The file is being written.");
  await saveFile(link.href).catch(showProblem);
});

/** Handle the buttons of a shown candidate; `again` protects the table: by the candidate's own settings where columns are left out. */
export function handleButtons(place, again) {
  place.addEventListener("click", async (event) => {
    const button = event.target.closest("button.apply, button.drop, button.renew, button.solve");
    if (!button) return;
    button.disabled = true;
    try {
      if (button.matches(".solve")) {
        await solve();
        button.disabled = false;
        return;
      }
      if (button.matches(".apply")) {
        location.href = `/tables/${(await api("POST", `/jobs/${place.dataset.job}/apply`)).id}/who`;
        return;
      }
      if (button.matches(".drop")) {
        const { unchanged } = await api("GET", `/jobs/${place.dataset.job}/result`);
        await saveAndUse({ roles: Object.fromEntries(unchanged.filter((one) => one.nearly_unique).map((one) => [one.column, "identifier"])) });
      }
      await again(button.matches(".drop") ? cards.find((one) => one.id === place.dataset.job)?.protection : null);
    } catch (error) { // told beside the button
      button.parentElement.querySelector(".wrong")?.remove();
      button.after(make("span", { class: "wrong small", role: "alert" }, error.message));
      button.disabled = false;
    }
  });
}

/** Focus a result if a click on this page has started it; after a reload nothing is focused. */
function focusIfAwaited(kind, title) {
  if (awaited !== kind || currentPlace() !== "safe") return;
  awaited = null;
  focusOn(title);
}
document.addEventListener("show-candidate", ({ detail }) => { show("safe"); showCandidate(detail).then(() => focusOn(view.querySelector(".verdict h2"))); });
document.addEventListener("protecting", () => { awaited = "protection"; picked = null; });
document.addEventListener("comparing", () => { awaited = "frontier"; });
document.addEventListener("protection-asked", () => view.querySelector(".instead")?.remove());
document.addEventListener("protection-refused", () => view.toggleAttribute("data-older", Boolean(view.dataset.shown)));

const showJob = showAnswersOf(KINDS, view, { again: () => document.getElementById("protection").requestSubmit(), failed: (job) => {
  refuse(new Error(sentence(job.message || "this did not work")));
  focusIfAwaited("protection", view.querySelector(".instead .note"));
}, placed: (place) => { foldConditions(place); fillExample(place); }, shown: (job) => {
  unlisted = job.id;
  refreshSoon();
  document.dispatchEvent(new CustomEvent("candidate-shown", { detail: job.id }));
} });
showAnswersOf("frontier", frontierView, { again: () => compare().catch(refuse), shown: () => focusIfAwaited("frontier", frontierView.querySelector("h2")) });
handleButtons(view, (settings) => protect(settings && asIn(settings)));
onJobChange(KINDS, (job) => { if (isFinished(job)) refreshSoon(); });
onJobChange("attack", ({ state, question }) => {
  if (state !== "done") return;
  refreshSoon(); // it may change the verdict
  if (view.dataset.shown === question.released) showCandidate(question.released);
});

/** Protect the table by the settings of a point of the comparison. */
function applyPoint(index) {
  const point = embeddedJson(frontierView, "result").points[index];
  announce(`Applying ${point.words}, ${point.setting}.`);
  protect(asIn(point.protection)).catch(refuse);
}

/** Settings of a protection in place of the form's: every other option is emptied. */
function asIn(settings) {
  return { ...Object.fromEntries(Object.keys(bench.settings.protection).map((name) => [name, null])), ...settings };
}
document.addEventListener("drawn", (event) => {
  if (event.target.id !== "figure-frontier") return;
  event.target.dataset.clickable = "yes";
  event.detail.addEventListener("click", (_, item) => { if (Number.isInteger(item?.datum?.order)) applyPoint(item.datum.order); });
});
frontierView.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-point]");
  if (button) applyPoint(Number(button.dataset.point));
  if (event.target.closest("button.renew")) compare().catch(refuse);
  if (event.target.closest("button.solve")) solve().catch(refuse);
});
