// The results of jobs on a page: progress while a job runs, its result, or what to do without one.
import { announce, make, sentence, showProblem } from "./app.js";
import { cancelJob, isFinished, isOfKind, knownJobs, onJobChange, progressBar } from "./jobs.js";

/** Show the result of a job, rendered by the server; false if something newer is to be shown in its place. */
async function showAnswer(job, place, form = "", placed = () => {}) {
  const turn = (requestCounts.get(place) ?? 0) + 1, isNewest = () => place.dataset.wanted === job.id && requestCounts.get(place) === turn;
  requestCounts.set(place, turn);
  const answer = await fetch(`/jobs/${job.id}/view${form ? "?form=" + form : ""}`, { credentials: "same-origin" });
  const made = await answer.text();
  if (!isNewest()) return false;
  if (!answer.ok) throw new Error("This answer is no longer there. Ask again.");
  const opened = new Set([...place.querySelectorAll("details.fold[open]")].map((one) => one.id));
  place.innerHTML = made; // rendered by this app's templates, which escape everything
  place.dataset.job = job.id;
  place.removeAttribute("data-older");
  place.classList.remove("fading");
  for (const one of place.querySelectorAll("details.fold")) one.open = opened.has(one.id);
  placed(place);
  if (window.drawFigures) await window.drawFigures(place);
  if (!isNewest()) return false;
  place.dataset.shown = job.id;
  return true;
}
const requestCounts = new WeakMap(); // number of requests by place
document.addEventListener("toggle", (event) => { // figures in a fold are drawn when it opens
  if (event.target.open && event.target.matches("details.fold")) window.drawFigures?.(event.target.closest(".view") ?? event.target);
}, true);

/** Scroll to a title and focus it, so that screen readers read it. */
export function focusOn(title) {
  if (!title) return;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  (title.closest("section.verdict") ?? title).scrollIntoView({ block: "start" });
}

export const embeddedJson = (place, name) => JSON.parse(place.querySelector(`script.${name}`)?.textContent || "null");

/** The stage of a job, and how far it is. */
export const stageInWords = ({ stage, state, progress }) => `${sentence(stage || (state === "waiting" ? "waiting for other work" : "working")).replace(/\.$/, "…")}${progress ? ` ${Math.floor(100 * progress)}% done` : ""}`;

/** Show the progress of a job. */
function showProgress(job, place) {
  const old = place.querySelector(".waiting");
  const made = make("div", { class: "waiting", "data-job": job.id },
    make("span", {}, stageInWords(job)),
    progressBar(job),
    make("div", {}, make("button", { type: "button", class: "quiet", onclick: () => cancelJob(job) }, "Cancel")));
  if (old) {
    old.querySelector("span").textContent = made.querySelector("span").textContent;
    old.querySelector("progress").replaceWith(made.querySelector("progress"));
    old.querySelector("button").onclick = made.querySelector("button").onclick;
    old.dataset.job = job.id;
  } else place.prepend(made);
}

/** What a page shows in place of the result of a failed or cancelled job; an older result stays below it. */
function retryElement(job, again, kept) {
  const button = make("button", { type: "button", onclick: again }, "Try again"), older = kept ? " What you see below is older." : "";
  if (job.state === "cancelled") return make("p", { class: "row instead" }, `Cancelled.${older}`, button);
  return make("div", { class: "instead" }, make("p", { class: "note" }, sentence(job.message || "this did not work") + older), make("p", { class: "row" }, button, ["protection", "solution"].includes(job.kind) ? null : make("a", { class: "button quiet", href: "#columns" }, "Change the roles")));
}

/**
 * Show the progress and results of jobs of a kind in `place`; returns a function that shows a given job there.
 *
 * `waits` is the place of the progress (null: none). `placed` is called with every result, also unfinished ones, `shown`
 * with the job of a finished one, `failed` with a failed one, `restale` when the shown result becomes stale or current again (default: show it again).
 */
export function showAnswersOf(kind, place, { form = "", again = null, shown = () => {}, placed = () => {}, failed = () => {}, restale = null, quiet = false, silent = quiet, waits = place } = {}) {
  let latest = null;
  const put = (job) => showAnswer(job, place, form, placed);
  async function ended(job) { // show the last finished result, or else the part that the job has found
    const isSeen = again && place.isConnected; // then the place itself shows the failure
    if (job.state === "failed" && !silent) (isSeen ? announce : (words) => showProblem(new Error(words)))(sentence(job.message || "this did not work"));
    const whole = newestJob(kind, [...knownJobs.values()].filter((one) => one.state === "done")), kept = whole ?? (job.has_result ? job : null);
    if (kept) {
      place.dataset.wanted = kept.id;
      if (!(await put(kept))) return;
      shown(kept);
    }
    if (latest.id !== job.id) return;
    if (whole) latest = whole;
    if (again && kept) place.prepend(retryElement(job, again, kept));
    else if (again && !place.dataset.shown) place.replaceChildren(retryElement(job, again, null));
    place.toggleAttribute("data-older", kept !== null);
    if (job.state === "failed") failed(job);
  }
  async function running(job) {
    place.setAttribute("aria-busy", "true");
    place.querySelector(".instead")?.remove();
    if (quiet && place.dataset.shown) place.classList.add("fading");
    else if (waits) showProgress(job, waits);
    if (!job.has_result || place.dataset.seen === `${job.id} ${job.stages}`) return;
    place.dataset.seen = `${job.id} ${job.stages}`;
    await put(job);
    if (!isFinished(knownJobs.get(job.id)) && waits) showProgress(knownJobs.get(job.id), waits);
  }
  async function changed(job) {
    if (latest && latest.id !== job.id && job.created < latest.created) return;
    const restaled = job.state === "done" && latest?.state === "done" && latest.id === job.id && place.dataset.shown === job.id;
    latest = job;
    if (restaled && restale) { restale(job); return; }
    place.dataset.wanted = job.id;
    try {
      if (!isFinished(job)) { await running(job); return; }
      waits?.querySelector(".waiting")?.remove();
      if (job.state === "done") {
        if (!(await put(job)) || latest.id !== job.id) return;
        shown(job);
        if (!silent) announce("The answer is here.");
      } else await ended(job);
    } catch (error) {
      if (!silent) showProblem(error);
      if (!place.childElementCount) place.replaceChildren(make("p", { class: "note" }, `This cannot be shown now. ${error.message}`)); // nothing is not shown as if there were nothing
    }
    if (!isFinished(latest)) return; // a newer job runs
    place.classList.remove("fading");
    place.removeAttribute("aria-busy");
  }
  onJobChange(kind, changed);
  return (job) => { latest = null; return changed(job); };
}

/** The newest job of this table that is of one of these kinds. */
export const newestJob = (kinds, jobs = [...knownJobs.values()]) => jobs.filter((job) => isOfKind(job, kinds)).sort((a, b) => (a.created < b.created ? 1 : -1))[0];
