// What work found, in its place on a page: while it is awaited, when it is there, and where there is none.
import { bar, cancel, known, make, over, problem, say, sentence, table, watch } from "./app.js";

/** Show a finished job in its place, unless something newer is to be shown there: the server sets the answer with the report's own parts. */
async function show(job, place, form = "", placed = () => {}) {
  const turn = (turnOf.get(place) ?? 0) + 1, isNewest = () => place.dataset.wanted === job.id && turnOf.get(place) === turn;
  turnOf.set(place, turn);
  const answer = await fetch(`/jobs/${job.id}/view${form ? "?form=" + form : ""}`, { credentials: "same-origin" });
  const made = await answer.text();
  if (!isNewest()) return false; // something newer was asked in the meantime
  if (!answer.ok) throw new Error("This answer is no longer there. Ask again.");
  const opened = new Set([...place.querySelectorAll("details.fold[open]")].map((one) => one.id));
  place.innerHTML = made; // by this app's templates, which escape everything
  place.dataset.job = job.id;
  place.classList.remove("fading");
  for (const one of place.querySelectorAll("details.fold")) one.open = opened.has(one.id);
  placed(place);
  if (window.drawFigures) await window.drawFigures(place);
  if (!isNewest()) return false;
  place.dataset.shown = job.id;
  return true;
}
const turnOf = new WeakMap(); // how often something was asked for a place
document.addEventListener("toggle", (event) => { // figures are drawn once there is room for them
  if (event.target.open && event.target.matches("details.fold")) window.drawFigures?.(event.target.closest(".view"));
}, true);

/** Bring what was asked for to the eye, and to the ear. */
export function reach(title) {
  if (!title) return;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  (title.closest("section") ?? title).scrollIntoView({ block: "start" });
}

export const data = (place, name) => JSON.parse(place.querySelector(`script.${name}`)?.textContent || "null");

/** How far a job is, in the place where its answer will stand, or another. */
function waiting(job, place) {
  const old = place.querySelector(".waiting");
  const made = make("div", { class: "waiting", "data-job": job.id },
    make("span", {}, sentence(job.stage || (job.state === "waiting" ? "waiting for other work" : "working")).replace(/\.$/, "…")),
    bar(job),
    make("div", {}, make("button", { type: "button", class: "quiet", onclick: () => cancel(job) }, "Cancel")));
  if (old) {
    old.querySelector("span").textContent = made.querySelector("span").textContent;
    old.querySelector("progress").replaceWith(made.querySelector("progress"));
    old.querySelector("button").onclick = made.querySelector("button").onclick;
    old.dataset.job = job.id;
  } else place.prepend(made);
}

/** What to do where there is no answer. */
function instead(job, again) {
  const button = make("button", { type: "button", onclick: again }, "Try again");
  if (job.state === "cancelled") return make("p", { class: "row instead" }, "Cancelled.", button);
  return make("div", { class: "instead" }, make("p", { class: "note" }, sentence(job.message || "this did not work")), make("p", { class: "row" }, make("a", { class: "button", href: "#columns" }, "Change the roles"), button));
}

/**
 * What happens in `place` while a job of a kind runs and when it ends; returns a function that shows a job instead.
 *
 * `waits` is where progress is told (null: nowhere), `placed` is called with every part of an answer, `shown` with the
 * whole, `restale` where an answer that is shown has become out of date or is not any more (without it, it is shown anew).
 */
export function answersOf(kind, place, { form = "", again = null, shown = () => {}, placed = () => {}, restale = null, quiet = false, silent = quiet, waits = place } = {}) {
  let latest = null;
  const put = (job) => show(job, place, form, placed);
  async function ended(job) { // the last whole answer comes back; without one, what was found before it ended stays, and says so
    const isSeen = again && place.isConnected; // then it is said there
    if (job.state === "failed" && !silent) (isSeen ? say : (words) => problem(new Error(words)))(sentence(job.message || "this did not work"));
    const whole = newest([...known.values()].filter((one) => one.state === "done"), kind), kept = whole ?? (job.has_result ? job : null);
    if (kept) {
      place.dataset.wanted = kept.id;
      if (!(await put(kept))) return;
      shown(kept);
    }
    if (latest.id !== job.id) return;
    if (whole) latest = whole;
    if (again && kept) place.prepend(instead(job, again));
    else if (again && !place.dataset.shown) place.replaceChildren(instead(job, again));
  }
  async function running(job) {
    place.setAttribute("aria-busy", "true");
    place.querySelector(".instead")?.remove();
    if (quiet && place.dataset.shown) place.classList.add("fading");
    else if (waits) waiting(job, waits);
    if (!job.has_result || place.dataset.seen === `${job.id} ${job.stages}`) return;
    place.dataset.seen = `${job.id} ${job.stages}`;
    await put(job);
    if (!over(known.get(job.id)) && waits) waiting(known.get(job.id), waits);
  }
  async function changed(job) {
    if (latest && latest.id !== job.id && job.created < latest.created) return;
    const restaled = job.state === "done" && latest?.state === "done" && latest.id === job.id && place.dataset.shown === job.id;
    latest = job;
    if (restaled && restale) { restale(job); return; }
    place.dataset.wanted = job.id;
    try {
      if (!over(job)) { await running(job); return; }
      waits?.querySelector(".waiting")?.remove();
      if (job.state === "done") {
        if (!(await put(job)) || latest.id !== job.id) return;
        shown(job);
        if (!silent) say("The answer is here.");
      } else await ended(job);
    } catch (error) { if (!silent) problem(error); }
    if (!over(latest)) return; // newer work is on its way
    place.classList.remove("fading");
    place.removeAttribute("aria-busy");
  }
  watch((job) => [kind].flat().includes(job.kind) && (job.table || null) === table, changed);
  return (job) => { latest = null; return changed(job); };
}

/** The newest job of a kind, or of several, for this table. */
export const newest = (jobs, kind) => jobs.filter((job) => [kind].flat().includes(job.kind) && (job.table || null) === table).sort((a, b) => (a.created < b.created ? 1 : -1))[0];
