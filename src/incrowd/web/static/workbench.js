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
import { followEvents } from "./events.js";
import { initForecast } from "./forecast.js";
import { initLeak } from "./leak.js";
import { SECTIONS, onShown, show } from "./places.js";
import { initProject } from "./project.js";
import { enableForm } from "./protect.js";
import { limits } from "./question.js";
import { startTour } from "./tour.js";
import { initVerdict } from "./verdict-bar.js";

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("a[href='#columns']")) return;
  event.preventDefault();
  show("who");
  if (event.target.matches(".decide-columns")) showUndecided();
  else document.querySelector("#columns [tabindex='0']")?.focus();
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
  onShown("crowd", redraw, redraw);
  await refresh();
  await initProject();
  show(document.body.dataset.place);
  if (location.hash.slice(1) in SECTIONS) show(location.hash.slice(1)); // an address of a former page
  await startTour();
  followEvents();
  document.documentElement.dataset.settled = "yes";
} catch (error) { showProblem(error); }
