// The assessment: its verdict above the lenses, the rest of it under Risk, what can be taken away under Report.
import { advise } from "./actions.js";
import { answersOf, data, newest } from "./answers.js";
import { known, make, over, problem, start, table, watch } from "./app.js";
import { drawAssessed, drawAssessing } from "./bar.js";
import { allKept, bench, on } from "./bench.js";
import { lens } from "./lenses.js";
import { wrongField } from "./question.js";
import { undecided } from "./roles.js";

const place = document.getElementById("verdict-place"), stale = document.getElementById("stale");
const view = document.getElementById("risk-view"), taken = document.getElementById("report-view");
const button = document.getElementById("assess");
const openTitle = document.getElementById("open-title"), openWords = document.getElementById("open-words");
let asked = false, running = false;

/** Assess the table by its settings as they are now, once all of them are kept. */
export async function assess() {
  const before = asked;
  asked = true; // at once: looking at the risk meanwhile starts no second one
  if (wrongField() || !(await allKept())) { asked = before; return; }
  stale.hidden = true;
  await start(`/tables/${table}/assessments`, {}).catch(problem);
}

/** The decision moves out of the answer: it stays in sight whatever is looked at. */
function decide(shown) {
  const made = shown.querySelector("#verdict");
  if (!made) return;
  const [sentence, ...rest] = made.querySelectorAll(".lead"), advice = rest.pop();
  sentence.before(advice); // what to do comes before why
  const whole = known.get(shown.dataset.job)?.state === "done";
  made.querySelector("h2").before(make("p", { class: "eyebrow" }, whole ? "The table as it is" : "The table as it is: preliminary, not everything was looked at"));
  made.classList.toggle("preliminary", !whole);
  if (rest.length) sentence.after(make("details", { class: "reasons" }, make("summary", {}, `${rest.length} more reason${rest.length > 1 ? "s" : ""}`), rest));
  place.replaceChildren(made);
  lower(shown);
}

/** The charts of the overview are low, so that they are seen together. */
export function lower(shown) {
  const block = shown.querySelector("script.figures"), specs = JSON.parse(block.textContent);
  for (const name of ["class-sizes", "drivers"]) if (specs[name]) specs[name].height = 150;
  for (const { encoding } of [specs["class-sizes"], ...specs["class-sizes"]?.layer ?? []].filter(Boolean)) if (encoding?.color) encoding.color.legend = { title: null, columns: 3 };
  block.textContent = JSON.stringify(specs);
}

function outdated(job) {
  drawAssessed(job, data(view, "risk"));
  stale.hidden = !job.stale;
  place.classList.toggle("outdated", job.stale);
  advise(job).catch(problem);
}

answersOf("assessment", view, { again: assess, waits: document.getElementById("verdict-wait"), placed: decide, shown: outdated, restale: outdated });
button.addEventListener("click", assess);
document.getElementById("renew").addEventListener("click", assess);
document.addEventListener("advice-taken", assess);

function drawOpen() {
  const left = undecided(bench.columns, bench.now).length;
  openTitle.textContent = `May it go out? ${running ? "One moment" : "Not assessed yet"}`;
  openWords.textContent = left
    ? `${left} of ${bench.columns.length} columns have only a suggested role. The verdict counts them as known to an attacker, and there is no yes until each is confirmed or changed.`
    : `Every column is decided. ${running ? "The table is being assessed; a first answer comes as soon as it is counted." : "Assess the table to know whether it may go out."}`;
}
on("settings", drawOpen);
watch((job) => job.kind === "assessment" && job.table === table, (job) => { // what is there, or on its way, is asked for anew above it
  running = !over(job);
  drawAssessing(running);
  if (running) advise(null).catch(problem);
  button.hidden = running || job.has_result;
  drawOpen();
});

/** Looking at the risk or the report without an assessment starts one. */
export function begin(jobs) {
  const last = newest(jobs, "assessment");
  asked = Boolean(last);
  const first = () => { if (!asked) assess(); };
  lens("risk", first);
  lens("report", () => {
    first();
    const show = answersOf("assessment", taken, { form: "release", waits: null, placed: () => taken.querySelector("#verdict")?.remove(), restale: () => {}, silent: true });
    const last = newest([...known.values()], "assessment");
    if (last) show(last);
  });
  if (!asked) view.replaceChildren(make("p", { class: "soft" }, "Not assessed yet."));
}
