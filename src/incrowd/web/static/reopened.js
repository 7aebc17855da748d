// A reopened project: its saved verdict, and its saved candidates until they are made again on this table.
import { newestJob } from "./answers.js";
import { announce, api, make, percent, requestCounter, shorten, showProblem, table } from "./app.js";
import { cancelJob, isFinished, isOfKind, knownJobs, onJobChange, startJob } from "./jobs.js";
import { protectionInWords } from "./candidates.js";
import { enableForm } from "./protect.js";
import { savedInWords } from "./conditions.js";
import { assess } from "./verdict-bar.js";

const shelf = document.getElementById("reopened"), projectPlace = document.getElementById("project-changed"), changedPlace = document.getElementById("reopened-changed");
const day = (saved) => saved.slice(0, 10);
const countRequest = requestCounter();

/** Make candidates again by their saved settings, with their old names; the settings of the form stay. */
async function makeAgain(ones) {
  for (const one of ones) {
    const job = await startJob(`/tables/${table}/protections`, { protection: one.protection });
    await api("POST", `/jobs/${job.id}/name`, { name: shorten(one.name, 100) });
  }
  await draw();
}

function cardElement(one) {
  return make("li", { class: "candidate outdated" },
    make("p", { class: "headline" }, make("b", { class: "mark", "aria-hidden": "true" }, "↺"), make("bdi", {}, shorten(one.name, 40))),
    make("p", { class: "small" }, `Saved ${day(one.at)}: ${savedInWords(one.summary)}`),
    make("p", { class: "small soft" }, protectionInWords(one)),
    make("p", { class: "small soft" }, one.cannot ? `It cannot be made again as it was: ${one.cannot}.` : "Not made again yet on this table."),
    one.cannot ? null : make("p", { class: "row" }, make("button", { type: "button", class: "remake", onclick: () => makeAgain([one]).catch(showProblem) }, "Make it again")));
}

/** Draw the saved candidates that were not made again, and the differences of the table; returns the saved project. */
async function draw() {
  const isNewest = countRequest(), saved = await api("GET", `/tables/${table}/project/saved`);
  if (!isNewest()) return saved;
  const left = saved?.candidates ?? [], possible = left.filter((one) => !one.cannot);
  shelf.hidden = !left.length;
  shelf.replaceChildren(...(left.length ? [
    make("p", { class: "row" }, `${left.length} of the project that was saved on ${day(saved.saved)}:`,
      possible.length > 1 ? make("button", { type: "button", class: "remake-all", onclick: () => makeAgain(possible).catch(showProblem) }, "Make all again") : null,
      make("button", { type: "button", class: "quiet", onclick: () => api("DELETE", `/tables/${table}/project/saved`).then(draw).catch(showProblem) }, "Forget them")),
    make("ul", { class: "shelf" }, left.map(cardElement))] : []));
  const changed = () => [make("p", {}, `Reopened: the project of ${shorten(saved.of)}, saved on ${day(saved.saved)}. ${saved.changed.length ? "What is different in this table:" : "The table has the same columns."}`),
    make("ul", {}, saved.changed.map((line) => make("li", {}, shorten(line, 200))))];
  changedPlace.replaceChildren(...(saved?.changed.length ? changed() : [])); // on the lens that opens with a project
  projectPlace.replaceChildren(...(saved ? [...changed(),
    ...(saved.assessment ? [make("p", {}, `The verdict then: ${saved.assessment.headline}.`), make("p", { id: "verdict-again" })] : [])] : []));
  compareVerdicts(saved);
  return saved;
}

/** Compare the saved verdict with that of the current settings, once there is one. */
async function compareVerdicts(saved) {
  const now = newestJob("assessment", [...knownJobs.values()].filter((job) => !job.stale));
  if (!saved?.assessment || !now) return;
  const place = projectPlace.querySelector("#verdict-again");
  if (!isFinished(now)) { place.textContent = "It is assessed again now."; return; }
  if (now.state !== "done") return;
  const { verdict } = await api("GET", `/jobs/${now.id}/result`), same = verdict.headline === saved.assessment.headline && verdict.highest === saved.assessment.highest;
  place.textContent = same ? "Assessed again: the same." : `Assessed again: ${verdict.headline}. The highest risk was ${percent(saved.assessment.highest)} and is ${percent(verdict.highest)}.`;
}

/** Continue a project: assess the table again, and make the quick candidates again. */
export async function continueProject() {
  for (const job of knownJobs.values()) if (isOfKind(job, "assessment") && !isFinished(job)) await cancelJob(job); // it has the previous roles
  const saved = await draw();
  if (saved.candidates.length) enableForm(true); // the form shows the saved settings
  if (saved.assessment) await assess();
  await makeAgain(saved.candidates.filter((one) => one.is_quick));
  announce("The project is open.");
}

document.addEventListener("candidates-listed", () => draw().catch(showProblem));
onJobChange("assessment", (job) => { if (isFinished(job)) draw().catch(showProblem); });
