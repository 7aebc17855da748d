// The workbench page: loads the table and starts all parts.
import { newestJob } from "./answers.js";
import { make, sentence, showProblem } from "./app.js";
import { resumeJobs } from "./jobs.js";
import { bench, openTable } from "./bench.js";
import { conditionElements } from "./conditions.js";
import { initAttack } from "./attack.js";
import { refresh } from "./candidates.js";
import { showUndecided } from "./columns.js";
import "./coarsening.js";
import { redraw } from "./crowd.js";
import { initCurves } from "./curves.js";
import { followEvents } from "./events.js";
import { initForecast } from "./forecast.js";
import { initLeak } from "./leak.js";
import { onLens, showLens } from "./lenses.js";
import { initProject } from "./project.js";
import { enableForm } from "./protect.js";
import { limits } from "./question.js";
import { startTour } from "./tour.js";
import { assess, initVerdict } from "./verdict.js";

const panes = document.getElementById("bench"), bar = document.querySelector("nav.bar");

/** Tell the style sheet how high the bar is, so that nothing sticks or scrolls behind it: 0 where it scrolls away with the page. */
function measureBar() {
  document.documentElement.style.setProperty("--bar", getComputedStyle(bar).position === "sticky" ? `${Math.ceil(bar.getBoundingClientRect().height)}px` : "0px");
}
new ResizeObserver(measureBar).observe(bar);
addEventListener("resize", measureBar); // a low window changes its position, not its size

/** Show one of the three panes on a narrow screen; on a wide one, only focus it. */
function pane(name, focus) {
  panes.dataset.pane = name;
  for (const button of document.querySelectorAll("#panes button")) button.setAttribute("aria-pressed", String(button.dataset.pane === name));
  focus?.();
  if (name === "middle") redraw();
}
for (const button of document.querySelectorAll("#panes button")) button.addEventListener("click", () => pane(button.dataset.pane));
document.getElementById("tile-columns").addEventListener("click", () => pane("columns", showUndecided));
document.getElementById("tile-limit").addEventListener("click", () => pane("protect", () => document.getElementById("recipient").focus()));
for (const [tile, name] of [["risk", "risk"], ["after", "candidates"], ["detail", "candidates"], ["report", "report"]]) document.getElementById(`tile-${tile}`).addEventListener("click", () => pane("middle", () => showLens(name)));
for (const name of ["risk", "report"]) document.getElementById(`tile-${name}`).addEventListener("click", ({ currentTarget }) => { if (currentTarget.dataset.state === "stale") assess(); });
document.addEventListener("protecting", () => pane("middle"));
document.addEventListener("comparing", () => pane("middle"));
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("a[href='#columns']")) return;
  event.preventDefault();
  pane("columns", event.target.matches(".decide-columns") ? showUndecided : () => document.querySelector("#columns [tabindex='0']")?.focus());
});

/** Show the conditions of the protection that made the table, and the notes on the reading of its file: the first one, with the others folded. */
function drawNotes({ notes, conditions }) {
  const place = document.getElementById("notes"), [first, ...rest] = notes.map(sentence);
  if (conditions.length) place.append(make("section", { class: "note", "aria-label": "Conditions of the protection" }, make("p", {}, "This table was made by a protection. What was said of it holds on:"), conditionElements(conditions)));
  if (!first) return;
  const more = rest.length ? make("details", { class: "note" }, make("summary", {}, `${first} And ${rest.length} more.`), make("ul", {}, rest.map((note) => make("li", {}, note)))) : make("p", { class: "note" }, first);
  place.append(more);
}

try {
  await openTable(limits);
  drawNotes(bench.info);
  const jobs = await resumeJobs();
  enableForm(Boolean(newestJob(["protection", "solution"], jobs)));
  initVerdict(jobs);
  initForecast();
  initLeak();
  initAttack();
  initCurves();
  onLens("crowd", redraw, redraw);
  await refresh();
  await initProject();
  showLens(document.body.dataset.lens);
  await startTour();
  followEvents();
  document.documentElement.dataset.settled = "yes";
} catch (error) { showProblem(error); }
