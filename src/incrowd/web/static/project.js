// The project file, decisions, and the audit trail.
import { announce, api, clearProblem, count, make, readProject, requestCounter, shorten, showProblem, table } from "./app.js";
import { candidateConditions, conditionElements } from "./conditions.js";
import { current, reportElement } from "./candidates.js";
import { allSaved, reloadSettings } from "./bench.js";
import { onLens } from "./lenses.js";
import { continueProject } from "./reopened.js";
import { DECISIONS, stepInWords } from "./trail.js";

const file = document.getElementById("project-file"), trail = document.getElementById("trail");
const form = document.getElementById("decide"), decided = document.getElementById("decisions"), which = document.getElementById("decided-on");
const counted = document.getElementById("trail-count"), conditions = document.getElementById("decided-conditions"), outdated = document.getElementById("decide-outdated");

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
/** Show the conditions of a yes and the report of the chosen candidate, beside the form of the decision. */
function drawConditions() {
  const chosen = candidates.find((one) => one.id === which.value && !one.question_changed);
  conditions.replaceChildren(...(chosen ? [...conditionElements(candidateConditions(chosen)), make("p", {}, make("span", { class: "small" }, "Report of this protected table: "), reportElement(chosen))] : []));
}
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
    await api("POST", `/tables/${table}/decisions`, { decision: form.decision.value, by: form.by.value.trim(), note: form.note.value.trim(), candidate: which.value || null });
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
  onLens("report", redraw, redraw);
  await redraw();
  if (location.hash !== "#reopened") return; // the first page loaded the project together with the table
  history.replaceState(null, "", location.pathname);
  await continueProject();
}
