// The project file, decisions, and the audit trail.
import { announce, api, clearProblem, count, make, percent, readProject, requestCounter, shorten, showProblem, table } from "./app.js";
import { current, reportElement } from "./candidates.js";
import { allSaved, reloadSettings } from "./bench.js";
import { onShown } from "./places.js";
import { continueProject } from "./reopened.js";
import { DECISIONS, stepInWords } from "./trail.js";

const file = document.getElementById("project-file"), trail = document.getElementById("trail");
const form = document.getElementById("decide"), decided = document.getElementById("decisions"), which = document.getElementById("decided-on");
const counted = document.getElementById("trail-count"), conditions = document.getElementById("conditions"), outdated = document.getElementById("decide-outdated");
const facts = document.getElementById("decide-facts"), files = document.getElementById("candidate-files"), goesOut = document.getElementById("goes-out"), whyNot = document.getElementById("why-not"), confirmedCount = document.getElementById("confirmed-count"), title = document.getElementById("decide-title");
const confirmed = new Map(); // conditions that are ticked, with the reason in the words of who decides

/** Send a project file to the server, which applies it to this table. */
async function loadProject(chosen) {
  clearProblem();
  const project = await readProject(chosen);
  if (!(await allSaved())) return; // otherwise a pending change would be saved after the project
  await api("POST", `/tables/${table}/project`, project);
  await Promise.all([reloadSettings(), draw()]);
  await continueProject();
}
file.addEventListener("change", () => { if (file.files.length) loadProject(file.files[0]).catch(showProblem); file.value = ""; });

let candidates = [], picked = false; // until the user picks one, the candidate of the verdict that leads is chosen
which.addEventListener("change", () => { picked = true; drawConditions(); });
const chosenCandidate = () => candidates.find((one) => one.id === which.value && !one.question_changed) ?? null;
/** The conditions of what is decided about: of a yes each has to be confirmed. */
const conditionsNow = () => (chosenCandidate() ? (chosenCandidate().decision === "within" ? chosenCandidate().conditions : []) : own.decision === "within" ? own.conditions : []);

/** Why it cannot go out yet, or an empty text. */
export function whatIsMissing({ conditions: all, ticked, name, isYes, note }) {
  const first = all.findIndex((one) => !ticked.has(one));
  if (isYes && first >= 0) return `Confirm the ${["first", "second", "third", "fourth", "fifth"][first] ?? `${first + 1}th`} condition first.`;
  if (!name.trim()) return "Enter your name.";
  return isYes || note.trim() ? "" : "The verdict is not yes: write in the note why it goes out all the same.";
}

function drawMissing() {
  const all = conditionsNow(), one = chosenCandidate(), isYes = (one ?? own).decision === "within";
  const missing = whatIsMissing({ conditions: all, ticked: confirmed, name: form.by.value, isYes, note: form.note.value });
  goesOut.disabled = missing !== "";
  whyNot.textContent = missing || "This is written down under your name.";
  confirmedCount.textContent = all.length ? `${all.filter((text) => confirmed.has(text)).length} of ${all.length} confirmed` : "";
}

function conditionElement(text, index) {
  const box = make("input", { type: "checkbox", id: `condition-${index}`, checked: confirmed.has(text), onchange: () => { if (box.checked) confirmed.set(text, reason.value); else confirmed.delete(text); drawMissing(); } });
  const reason = make("input", { "aria-label": `Why condition ${index + 1} holds, in your own words`, placeholder: "why, in your own words (optional)", maxlength: "2000", autocomplete: "off", value: confirmed.get(text) ?? "", oninput: () => { if (box.checked) confirmed.set(text, reason.value); } });
  return make("li", {}, box, make("div", {}, make("label", { for: box.id }, text), reason));
}

/** Show the numbers before and after, the conditions as boxes to tick, and the files of what is decided about. */
function drawConditions() {
  const one = chosenCandidate(), all = conditionsNow(), isYes = (one ?? own).decision === "within";
  title.textContent = !isYes ? (one ?? own).headline ?? "May it go out?" : all.length ? `It may go out if you can say ${all.length === 1 ? "this" : `these ${all.length} things`}` : "It may go out";
  const fact = (name, value, was) => make("div", {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, was ? ` ${was}` : "")));
  facts.replaceChildren(...(one ? [
    fact("stand alone", count(Math.round(one.after.uniqueness * one.people)), `was ${count(Math.round(one.before.uniqueness * one.people_before))}`),
    fact("found on average", percent(one.after.correctness), `was ${percent(one.before.correctness)}`),
    fact("cells unchanged", percent(one.cells_unchanged), `${count(one.columns - one.columns_left_out.length)} of ${count(one.columns)} columns`),
    fact("smallest class", count(one.after.k), `was ${count(one.before.k)}`)] : []));
  conditions.replaceChildren(...all.map(conditionElement));
  files.replaceChildren(...(one ? [make("p", {}, make("a", { href: `/api/v1/jobs/${one.id}/table?format=upload`, download: true, "data-ending": one.file_name.split(".").at(-1) }, shorten(one.file_name, 60))), make("p", {}, make("span", { class: "small" }, "Report for the director: "), reportElement(one))] : []));
  drawMissing();
}
form.addEventListener("input", drawMissing);
document.addEventListener("verdict-taken", ({ detail }) => { own = detail ?? {}; drawConditions(); });
let own = {}; // the verdict on the table as it is
document.addEventListener("report-changed", drawConditions);
const countRequest = requestCounter();
async function draw() {
  const isNewest = countRequest();
  const [all, steps, listed] = await Promise.all([api("GET", `/tables/${table}/decisions`), api("GET", `/tables/${table}/trail`), api("GET", `/tables/${table}/candidates`)]);
  if (!isNewest()) return;
  candidates = listed;
  const line = ([one, index]) => make("li", { class: one.on_this_table ? "" : "elsewhere" }, `${one.at.slice(0, 10)}: ${shorten(one.table.name, 60)}, ${one.candidate ? shorten(one.candidate, 60) : "the table as it is"}, ${DECISIONS[one.decision]}, says ${shorten(one.by)}. ${shorten(one.note, 200)} `,
    make("br"), make("a", { class: "button quiet", href: `/api/v1/tables/${table}/record.html?number=${index}`, download: true }, one.on_this_table ? "Record to sign" : `Record of ${shorten(one.table.name, 40)}`));
  const numbered = all.map((one, index) => [one, index]), elsewhere = numbered.filter(([one]) => !one.on_this_table);
  decided.replaceChildren(...numbered.filter(([one]) => one.on_this_table).map(line), ...(elsewhere.length ? [make("li", {}, make("b", {}, "Not about this table: decided about earlier ones of the project")), ...elsewhere.map(line)] : []));
  const chosen = which.value;
  which.replaceChildren(make("option", { value: "" }, "the table as it is"), ...candidates.map((one) => make("option", { value: one.id, disabled: one.question_changed }, `${shorten(one.name, 60)}${one.question_changed ? " (out of date: protect again)" : one.decision === "within" ? "" : ` (${one.headline})`}`)));
  const wanted = picked ? candidates.find((one) => one.id === chosen) : current(candidates);
  which.value = wanted && !wanted.question_changed ? wanted.id : "";
  drawConditions();
  trail.replaceChildren(...steps.slice(-100).reverse().map((step) => make("li", {}, make("time", { datetime: step.at }, step.at.slice(0, 16).replace("T", " ")), ` ${shorten(stepInWords(step), 200)}`)));
  counted.textContent = count(steps.length);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    if (!(await allSaved())) return;
    clearProblem();
    const all = conditionsNow().filter((text) => confirmed.has(text));
    await api("POST", `/tables/${table}/decisions`, { decision: event.submitter.value, by: form.by.value.trim(), note: form.note.value.trim(), candidate: which.value || null, confirmed: all.map((condition) => ({ condition, reason: confirmed.get(condition) })) });
    form.note.value = "";
    await draw();
    announce("Written down.");
  } catch (error) { showProblem(error); }
});

/** Draw, or say beside what was drawn before that it may be older. */
async function redraw() {
  try {
    await draw();
    outdated.hidden = true;
  } catch (error) {
    outdated.hidden = false;
    showProblem(error);
  }
}

/** Load the decisions and the audit trail at once, so that they stay in sight if the app ends, and each time the report is shown. */
export async function initProject() {
  onShown("report", redraw, redraw);
  await redraw();
  if (location.hash !== "#reopened") return; // the first page loaded the project together with the table
  history.replaceState(null, "", location.pathname);
  await continueProject();
}
