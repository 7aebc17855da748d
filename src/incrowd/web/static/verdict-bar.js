// The one verdict of the page, in the bar that every place shows: its colour, its sentence, and one next step.
import { embeddedJson, newestJob, showAnswersOf } from "./answers.js";
import { showActions } from "./actions.js";
import { count, shorten, showProblem, table } from "./app.js";
import { allSaved, bench, onChange } from "./bench.js";
import { STAMPS } from "./conditions.js";
import { showUndecided } from "./columns.js";
import { isFinished, onJobChange, startJob } from "./jobs.js";
import { currentPlace, onShown, show } from "./places.js";
import { solve, refuse } from "./protect.js";
import { focusWrongField } from "./question.js";
import { undecided } from "./roles.js";

const bar = document.getElementById("bar"), stamp = document.getElementById("stamp"), headline = document.getElementById("headline"), because = document.getElementById("because"), next = document.getElementById("next");
const view = document.getElementById("risk-view"), reportView = document.getElementById("report-view");
let wasAsked = false, running = false, assessed = null, judged = null, candidate = null; // the assessment of the original with its verdict, and the candidate that leads

/** Start an assessment by the current settings, once all changes are saved. */
export async function assess() {
  const before = wasAsked;
  wasAsked = true; // at once, so that showing the risk does not start a second one
  if (focusWrongField() || !(await allSaved())) { wasAsked = before; return; }
  await startJob(`/tables/${table}/assessments`, {}).catch(showProblem);
}

/** What the bar says: the standing (stale if nobody knows it now), the headline, the reason, and the next step. */
export function verdictOf({ candidate: made, verdict, isStale, isRunning, open, columns, sentence }) {
  const left = open ? `${count(open)} of ${count(columns)} columns are not answered: they count as known and as sensitive. ` : "";
  if (made && !made.question_changed) {
    const decide = { does: "decide", words: "Decide" }, search = { does: "solve", words: "Find one that passes" };
    return { stands: made.stands, headline: made.headline, because: `${shorten(made.name, 60)}: ${made.sentence}`, next: made.decision === "within" ? decide : search };
  }
  if (isRunning) return { stands: "stale", headline: "Counting …", because: verdict ? `So far: ${verdict.headline}. ${left}` : left + sentence, next: null };
  if (!verdict) return { stands: "stale", headline: "Not assessed yet", because: left + sentence, next: { does: "assess", words: "Assess" } };
  if (isStale) return { stands: "stale", headline: "The settings have changed", because: `${left}The verdict is out of date.`, next: { does: "assess", words: "Assess again" } };
  const steps = { within: { does: "decide", words: "Decide" }, undecided: { does: "columns", words: open ? `Answer ${count(open)} columns` : "See what is open" } };
  return { stands: verdict.stands, headline: verdict.headline, because: left || verdict.because, next: open && verdict.decision !== "within" ? steps.undecided : steps[verdict.decision] ?? { does: "safe", words: "Make it safe" } };
}

function draw() {
  const open = undecided(bench.columns, bench.settings).length;
  const verdict = running || assessed?.state === "done" ? judged : null; // a part of a cancelled one is no verdict
  const said = verdictOf({ candidate, verdict, isStale: assessed?.stale ?? false, isRunning: running, open, columns: bench.columns.length, sentence: bench.counts?.sentence ?? "" });
  bar.className = `bar verdict ${said.stands}`;
  bar.dataset.about = candidate && !candidate.question_changed ? candidate.id : "original";
  stamp.textContent = STAMPS[said.stands] ?? "";
  headline.textContent = said.headline;
  because.textContent = said.because;
  because.title = said.because;
  next.hidden = !said.next || (said.next.does === currentPlace());
  next.textContent = said.next?.words ?? "";
  next.dataset.does = said.next?.does ?? "";
  next.disabled = false;
  document.title = `${said.headline}: ${bench.info.name} – incrowd`;
}

const STEPS = {
  assess: () => assess(),
  columns: () => { show("who"); showUndecided(); },
  safe: () => show("safe"),
  solve: () => solve().catch((error) => { show("safe"); refuse(error); }),
  decide: () => show("decide"),
};
next.addEventListener("click", () => STEPS[next.dataset.does]?.());
document.addEventListener("current-candidate", ({ detail }) => { candidate = detail ?? null; if (bench.settings) draw(); });
document.addEventListener("place-shown", () => { if (bench.settings) draw(); });
document.addEventListener("advice-taken", assess);
onChange("settings", draw);
onChange("counted", draw);

/** Take the verdict of a result for the bar: the page has it once. */
function takeVerdict(place) {
  judged = embeddedJson(place, "risk");
  document.dispatchEvent(new CustomEvent("verdict-taken", { detail: judged }));
  place.querySelector("#verdict")?.remove();
  const block = place.querySelector("script.figures"), specs = JSON.parse(block.textContent);
  for (const name of ["class-sizes", "drivers"]) if (specs[name]) specs[name].height = Math.max(150, name === "drivers" ? 14 * (specs[name].data?.values?.length ?? 0) : 0); // low, and every attribute has its name
  for (const { encoding } of [specs["class-sizes"], ...specs["class-sizes"]?.layer ?? []].filter(Boolean)) if (encoding?.color) encoding.color.legend = { title: null, columns: 2 };
  block.textContent = JSON.stringify(specs);
  draw();
}

function showState(job) {
  assessed = job;
  draw();
  showActions(job).catch(showProblem);
}

showAnswersOf("assessment", view, { again: assess, waits: document.getElementById("verdict-wait"), placed: takeVerdict, shown: showState, restale: showState });
onJobChange("assessment", () => {
  running = !isFinished(newestJob("assessment"));
  if (running) showActions(null).catch(showProblem);
  draw();
});

/** Showing the risk or the decision without an assessment starts one. */
export function initVerdict(jobs) {
  const last = newestJob("assessment", jobs);
  wasAsked = Boolean(last);
  const first = () => { if (!wasAsked) assess(); };
  onShown("risk", first);
  onShown("report", () => {
    first();
    const put = showAnswersOf("assessment", reportView, { form: "release", waits: null, placed: () => reportView.querySelector("#verdict")?.remove(), restale: () => {}, silent: true });
    const shown = newestJob("assessment");
    if (shown) put(shown);
  });
  if (!wasAsked) view.replaceChildren();
}
