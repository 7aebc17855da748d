// What work found, in its place on a page: while it is awaited, when it is there, and where there is none.
import { bar, cancel, known, make, over, problem, say, sentence, table, watch } from "./app.js";

/** Show a finished job in its place: the server sets the answer with the report's own parts. */
async function show(job, place, form = "") {
  const answer = await fetch(`/jobs/${job.id}/view${form ? "?form=" + form : ""}`, { credentials: "same-origin" });
  const made = await answer.text();
  if (place.dataset.wanted !== job.id) return place; // something newer was asked in the meantime
  if (!answer.ok) throw new Error("This answer is no longer there. Ask again.");
  const opened = new Set([...place.querySelectorAll("details.fold[open]")].map((one) => one.id));
  place.innerHTML = made; // by this app's templates, which escape everything
  place.dataset.job = job.id;
  place.classList.remove("fading");
  if (window.drawFigures) await window.drawFigures(place);
  if (place.dataset.kind === "assessment") foldSections(place);
  for (const one of place.querySelectorAll("details.fold")) one.open = opened.has(one.id); // not before: figures need room to be drawn
  place.dataset.shown = job.id;
  return place;
}

/** On a phone the sections of an answer are closed: their titles are the way through it. */
function foldSections(place) {
  if (!matchMedia("(max-width: 40rem)").matches) return;
  for (const section of place.querySelectorAll(":scope > section[id]:not(.verdict)")) {
    const title = section.querySelector("h2"), rest = [...section.childNodes].filter((one) => one !== title);
    section.append(make("details", { class: "fold", id: `fold-${section.id}`, open: true }, make("summary", {}, title), rest));
  }
}
document.addEventListener("toggle", (event) => { if (event.target.open && event.target.matches("details.fold")) window.dispatchEvent(new Event("resize")); }, true); // figures take the room there is now
document.addEventListener("click", (event) => {
  const fold = event.target.closest?.(".contents a") && document.getElementById(`fold-${event.target.closest("a").hash.slice(1)}`);
  if (fold) fold.open = true;
});

/** Bring what was asked for to the eye, and to the ear. */
export function reach(title) {
  if (!title) return;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  (title.closest("section") ?? title).scrollIntoView({ block: "start" });
}

export const data = (place, name) => JSON.parse(place.querySelector(`script.${name}`)?.textContent || "null");

/** How far a job is, in the place where its answer will stand. */
function waiting(job, place) {
  const old = place.querySelector(".waiting");
  const made = make("div", { class: "waiting", "data-job": job.id },
    make("span", {}, sentence(job.stage || (job.state === "waiting" ? "waiting for other work" : "working")).replace(/\.$/, "…")),
    bar(job),
    make("div", {}, make("button", { type: "button", class: "quiet", onclick: () => cancel(job) }, "Cancel")));
  if (old) {
    old.querySelector("span").textContent = made.querySelector("span").textContent;
    old.querySelector("progress").replaceWith(made.querySelector("progress"));
    old.dataset.job = job.id;
  } else place.prepend(made);
}

/** What to do where there is no answer. */
function instead(job, again) {
  const button = make("button", { type: "button", onclick: again }, "Try again");
  if (job.state === "cancelled") return make("p", { class: "row instead" }, "Cancelled.", button);
  return make("p", { class: "row instead" }, make("a", { class: "button", href: `/tables/${table}/roles` }, "Change the roles"), button);
}

/** What happens in `place` while a job of a kind runs and when it ends; returns a function that shows the answer again. */
export function answersOf(kind, place, { form = "", again = null, shown = () => {}, quiet = false } = {}) {
  let latest = null;
  watch((job) => job.kind === kind && (job.table || null) === table, async (job) => {
    if (latest && latest.id !== job.id && job.created < latest.created) return;
    latest = job;
    place.dataset.wanted = job.id;
    if (!over(job)) {
      place.setAttribute("aria-busy", "true");
      place.querySelector(".instead")?.remove();
      if (quiet && place.dataset.shown) place.classList.add("fading");
      else waiting(job, place);
      if (job.has_result && place.dataset.seen !== `${job.id} ${job.stages}`) {
        place.dataset.seen = `${job.id} ${job.stages}`;
        await show(job, place, form).catch(problem);
        if (!over(known.get(job.id))) waiting(known.get(job.id), place);
      }
      return;
    }
    place.querySelector(".waiting")?.remove();
    if (job.state === "done") {
      try {
        await show(job, place, form);
        if (latest.id !== job.id) return;
        shown(job);
        if (!quiet) say("The answer is here.");
      } catch (error) { problem(error); }
    } else {
      if (job.state === "failed") problem(new Error(sentence(job.message || "this did not work")));
      const whole = newest([...known.values()].filter((one) => one.state === "done"), kind), kept = whole ?? (job.has_result ? job : null);
      if (kept) { // the last whole answer comes back; without one, what was found before it ended stays, and says so
        place.dataset.wanted = kept.id;
        try {
          await show(kept, place, form);
          shown(kept);
        } catch (error) { problem(error); }
      }
      if (latest.id !== job.id) return;
      if (whole) latest = whole;
      if (again && kept) place.prepend(instead(job, again));
      else if (again && !place.dataset.shown) place.replaceChildren(instead(job, again));
    }
    place.classList.remove("fading");
    place.removeAttribute("aria-busy");
  });
  return () => { if (latest && over(latest) && place.dataset.shown === latest.id) return show(latest, place, form).then(() => shown(latest)).catch(problem); };
}

/** The newest job of a kind for this table, if it is worth showing. */
export const newest = (jobs, kind) => jobs.filter((job) => job.kind === kind && (job.table || null) === table).sort((a, b) => (a.created < b.created ? 1 : -1))[0];
