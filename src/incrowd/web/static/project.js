// The project: what was asked and decided, kept in a file without cells; decisions with a name; what happened, in order.
import { api, count, make, noProblem, problem, say, short, table, turns } from "./app.js";
import { allKept, reread } from "./bench.js";
import { lens } from "./lenses.js";

const file = document.getElementById("project-file"), changed = document.getElementById("project-changed"), trail = document.getElementById("trail");
const form = document.getElementById("decide"), decided = document.getElementById("decisions"), which = document.getElementById("decided-on");
const counted = document.getElementById("trail-count");
const DECISIONS = { release: "goes out", refuse: "does not go out", later: "is decided later" };

/** A project file is read here and sent as it is; the server says what has changed since. */
async function reopen(chosen) {
  noProblem();
  let project;
  try { project = JSON.parse(await chosen.text()); } catch { throw new Error("This is not a project file: it is not JSON. Choose a file that ends in .incrowd."); }
  if (!(await allKept())) return; // or a change that is on its way would come after the project
  const found = await api("POST", `/tables/${table}/project`, project);
  await Promise.all([reread(), draw()]);
  changed.replaceChildren(make("p", {}, found.changed.length ? "Reopened. What is different in this table:" : "Reopened. The table has the same columns."),
    make("ul", {}, found.changed.map((line) => make("li", {}, short(line, 200)))));
  say("The project is open.");
}
file.addEventListener("change", () => { if (file.files.length) reopen(file.files[0]).catch(problem); file.value = ""; });

let picked = false; // until somebody chooses, the newest protected table that may go out is meant
which.addEventListener("change", () => { picked = true; });
const asked = turns();
async function draw() {
  const isNewest = asked();
  const [all, steps, candidates] = await Promise.all([api("GET", `/tables/${table}/decisions`), api("GET", `/tables/${table}/trail`), api("GET", `/tables/${table}/candidates`)]);
  if (!isNewest()) return;
  decided.replaceChildren(...all.map((one, index) => make("li", {}, `${one.at.slice(0, 10)}: ${one.candidate ? short(one.candidate, 60) : "the table as it is"} ${DECISIONS[one.decision]}, says ${short(one.by)}. ${short(one.note, 200)} `,
    make("a", { href: `/api/v1/tables/${table}/record.html?number=${index}`, download: true }, "Record to sign"))));
  const chosen = which.value;
  which.replaceChildren(make("option", { value: "" }, "the table as it is"), ...candidates.map((one) => make("option", { value: one.id }, short(one.name, 60))));
  if (candidates.some((one) => one.id === chosen)) which.value = chosen; // not another table than the one that was chosen
  else if (!picked) which.value = candidates.find((one) => one.decision === "within" && !one.question_changed)?.id ?? "";
  trail.replaceChildren(...steps.slice(-100).reverse().map((step) => make("li", {}, make("time", { datetime: step.at }, step.at.slice(0, 16).replace("T", " ")), ` ${short(step.what, 120)}`)));
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
export function begin() { lens("report", () => draw().catch(problem), () => draw().catch(problem)); }
