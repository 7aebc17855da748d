// The project: what was asked and decided, kept in a file without cells; decisions with a name; what happened, in order.
import { api, count, make, noProblem, problem, readProject, say, short, table, turns } from "./app.js";
import { conditionsOf } from "./bar.js";
import { reportOf } from "./candidates.js";
import { allKept, reread } from "./bench.js";
import { lens } from "./lenses.js";
import { goOn } from "./reopened.js";
import { DECISIONS, stepInWords } from "./trail.js";

const file = document.getElementById("project-file"), trail = document.getElementById("trail");
const form = document.getElementById("decide"), decided = document.getElementById("decisions"), which = document.getElementById("decided-on");
const counted = document.getElementById("trail-count"), conditions = document.getElementById("decided-conditions");

/** A project file is read here and sent as it is; the server says what has changed since. */
async function reopen(chosen) {
  noProblem();
  const project = await readProject(chosen);
  if (!(await allKept())) return; // or a change that is on its way would come after the project
  await api("POST", `/tables/${table}/project`, project);
  await Promise.all([reread(), draw()]);
  await goOn();
}
file.addEventListener("change", () => { if (file.files.length) reopen(file.files[0]).catch(problem); file.value = ""; });

let shelved = [], picked = false; // until somebody chooses, the newest protected table that may go out is meant
which.addEventListener("change", () => { picked = true; drawConditions(); });
/** What a yes to the chosen table rests on is read before it is written down; its report is made and taken here. */
function drawConditions() {
  const chosen = shelved.find((one) => one.id === which.value && !one.question_changed);
  conditions.replaceChildren(...(chosen ? [conditionsOf(chosen.conditions), make("p", {}, make("span", { class: "small" }, "Report of this protected table: "), reportOf(chosen))] : []).filter(Boolean));
}
document.addEventListener("reported", drawConditions);
const asked = turns();
async function draw() {
  const isNewest = asked();
  const [all, steps, candidates] = await Promise.all([api("GET", `/tables/${table}/decisions`), api("GET", `/tables/${table}/trail`), api("GET", `/tables/${table}/candidates`)]);
  if (!isNewest()) return;
  shelved = candidates;
  const line = ([one, index]) => make("li", { class: one.on_this_table ? "" : "elsewhere" }, `${one.at.slice(0, 10)}: ${short(one.table.name, 60)}, ${one.candidate ? short(one.candidate, 60) : "the table as it is"}, ${DECISIONS[one.decision]}, says ${short(one.by)}. ${short(one.note, 200)} `,
    make("br"), make("a", { class: "button quiet", href: `/api/v1/tables/${table}/record.html?number=${index}`, download: true }, one.on_this_table ? "Record to sign" : `Record of ${short(one.table.name, 40)}`));
  const numbered = all.map((one, index) => [one, index]), elsewhere = numbered.filter(([one]) => !one.on_this_table);
  decided.replaceChildren(...numbered.filter(([one]) => one.on_this_table).map(line), ...(elsewhere.length ? [make("li", {}, make("b", {}, "Not about this table: decided about earlier ones of the project")), ...elsewhere.map(line)] : []));
  const chosen = which.value;
  which.replaceChildren(make("option", { value: "" }, "the table as it is"), ...candidates.map((one) => make("option", { value: one.id, disabled: one.question_changed }, `${short(one.name, 60)}${one.question_changed ? " (out of date: protect again)" : ""}`)));
  if (candidates.some((one) => one.id === chosen && !one.question_changed)) which.value = chosen; // not another table than the one that was chosen
  else if (!picked) which.value = candidates.find((one) => one.decision === "within" && !one.question_changed)?.id ?? "";
  drawConditions();
  trail.replaceChildren(...steps.slice(-100).reverse().map((step) => make("li", {}, make("time", { datetime: step.at }, step.at.slice(0, 16).replace("T", " ")), ` ${short(stepInWords(step), 200)}`)));
  counted.textContent = count(steps.length);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    if (!(await allKept())) return;
    noProblem();
    await api("POST", `/tables/${table}/decisions`, { decision: form.decision.value, by: form.by.value.trim(), note: form.note.value.trim(), candidate: which.value || null });
    form.note.value = "";
    await draw();
    say("Written down.");
  } catch (error) { problem(error); }
});

/** Decisions and the trail are read each time somebody looks at the report. */
export async function begin() {
  lens("report", () => draw().catch(problem), () => draw().catch(problem));
  if (location.hash !== "#reopened") return; // opened on the first page, with its table
  history.replaceState(null, "", location.pathname);
  await goOn();
}
