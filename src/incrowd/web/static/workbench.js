// The workbench: all its parts, put together.
import { newest } from "./answers.js";
import { make, problem, resume, sentence } from "./app.js";
import { bench as shared, open } from "./bench.js";
import { begin as beginAttack } from "./attack.js";
import { refresh } from "./candidates.js";
import { showUndecided } from "./columns.js";
import "./coarsening.js";
import { redraw } from "./crowd.js";
import { begin as beginCurves } from "./curves.js";
import { listen } from "./events.js";
import { begin as beginForecast } from "./forecast.js";
import { begin as beginLeak } from "./leak.js";
import { lens, look } from "./lenses.js";
import { begin as beginProject } from "./project.js";
import { ready } from "./protect.js";
import { limits } from "./question.js";
import { tour } from "./tour.js";
import { begin as beginVerdict } from "./verdict.js";

const bench = document.getElementById("bench");

/** On a narrow screen one of the three panes is seen at a time; on a wide one it is brought into focus. */
function pane(name, focus) {
  bench.dataset.pane = name;
  for (const button of document.querySelectorAll("#panes button")) button.setAttribute("aria-pressed", String(button.dataset.pane === name));
  focus?.();
  if (name === "middle") redraw();
}
for (const button of document.querySelectorAll("#panes button")) button.addEventListener("click", () => pane(button.dataset.pane));
document.getElementById("tile-columns").addEventListener("click", () => pane("columns", showUndecided));
document.getElementById("tile-limit").addEventListener("click", () => pane("protect", () => document.getElementById("recipient").focus()));
for (const [tile, name] of [["risk", "risk"], ["after", "candidates"], ["detail", "candidates"], ["report", "report"]]) document.getElementById(`tile-${tile}`).addEventListener("click", () => pane("middle", () => look(name)));
document.getElementById("tile-after").addEventListener("click", () => document.querySelector("#shelf [data-current=yes] details.conditions")?.setAttribute("open", ""));
document.addEventListener("protecting", () => pane("middle"));
document.addEventListener("comparing", () => pane("middle"));
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("a[href='#columns']")) return;
  event.preventDefault();
  pane("columns", () => document.querySelector("#columns [tabindex='0']")?.focus());
});

/** What was noticed when the file was read: one line, and the rest behind it. */
function drawNotes(notes) {
  const [first, ...rest] = notes.map(sentence);
  if (!first) return;
  const more = rest.length ? make("details", { class: "note" }, make("summary", {}, `${first} And ${rest.length} more.`), make("ul", {}, rest.map((note) => make("li", {}, note)))) : make("p", { class: "note" }, first);
  document.getElementById("notes").replaceChildren(more);
}

try {
  await open(limits);
  drawNotes(shared.about.notes);
  const jobs = await resume();
  ready(Boolean(newest(jobs, ["protection", "solution"])));
  beginVerdict(jobs);
  beginForecast();
  beginLeak();
  beginAttack();
  beginCurves();
  lens("crowd", redraw, redraw);
  await refresh();
  await beginProject();
  look(document.body.dataset.lens);
  await tour();
  listen();
  document.documentElement.dataset.settled = "yes";
} catch (error) { problem(error); }
