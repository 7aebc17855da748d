// The assessment: its verdict above the lenses, its sections under Risk, its downloads under Report.
import { showActions } from "./actions.js";
import { embeddedJson, newestJob, showAnswersOf } from "./answers.js";
import { make, showProblem, table } from "./app.js";
import { isFinished, knownJobs, onJobChange, startJob } from "./jobs.js";
import { colourByLimit } from "./class-colours.js";
import { hasConditions } from "./conditions.js";
import { drawAssessed, drawAssessing } from "./status-bar.js";
import { allSaved, bench, onChange } from "./bench.js";
import { nameOriginal, showOriginal } from "./leading-verdict.js";
import { onLens } from "./lenses.js";
import { focusWrongField } from "./question.js";
import { undecided } from "./roles.js";

const place = document.getElementById("verdict-place"), stale = document.getElementById("stale");
const view = document.getElementById("risk-view"), reportView = document.getElementById("report-view");
const button = document.getElementById("assess");
const openTitle = document.getElementById("open-title"), openWords = document.getElementById("open-words");
let wasAsked = false, running = false;

/** Start an assessment by the current settings, once all changes are saved. */
export async function assess() {
  const before = wasAsked;
  wasAsked = true; // at once, so that showing the Risk lens does not start a second one
  if (focusWrongField() || !(await allSaved())) { wasAsked = before; return; }
  stale.hidden = true;
  showOriginal();
  await startJob(`/tables/${table}/assessments`, {}).catch(showProblem);
}

/** Move the verdict out of the result to above the lenses, where it stays visible. */
function moveVerdict(shown) {
  const made = shown.querySelector("#verdict");
  if (!made) return;
  const [sentence, ...rest] = made.querySelectorAll(".lead"), advice = rest.pop();
  sentence.before(advice); // the recommendation comes before the reasons
  const whole = knownJobs.get(shown.dataset.job)?.state === "done";
  made.querySelector("h2").before(make("p", { class: "eyebrow" }, whole ? "The table as it is" : "The table as it is: preliminary, not everything was looked at"));
  made.classList.toggle("preliminary", !whole);
  made.toggleAttribute("data-ifs", hasConditions(embeddedJson(shown, "risk")));
  if (rest.length) sentence.after(make("details", { class: "reasons" }, make("summary", {}, `${rest.length} more reason${rest.length > 1 ? "s" : ""}`), rest));
  place.replaceChildren(made);
  nameOriginal(`${made.querySelector("h2").textContent}${whole ? "" : " (preliminary)"}`);
  lowerCharts(shown);
}

/** Lower the charts of the overview, so that they are visible together. */
export function lowerCharts(shown) {
  const block = shown.querySelector("script.figures"), specs = JSON.parse(block.textContent);
  for (const name of ["class-sizes", "drivers"]) if (specs[name]) specs[name].height = Math.max(150, name === "drivers" ? 14 * (specs[name].data?.values?.length ?? 0) : 0); // every attribute has its name
  const size = embeddedJson(shown, "risk")?.class_size;
  if (size) colourByLimit(specs["class-sizes"], size);
  for (const { encoding } of [specs["class-sizes"], ...specs["class-sizes"]?.layer ?? []].filter(Boolean)) if (encoding?.color) encoding.color.legend = { title: null, columns: 2 };
  block.textContent = JSON.stringify(specs);
}

function showState(job) {
  drawAssessed(job, embeddedJson(view, "risk"));
  stale.hidden = !job.stale;
  place.classList.toggle("outdated", job.stale);
  showActions(job).catch(showProblem);
}

showAnswersOf("assessment", view, { again: assess, waits: document.getElementById("verdict-wait"), placed: moveVerdict, shown: showState, restale: showState });
button.addEventListener("click", assess);
document.getElementById("renew").addEventListener("click", assess);
document.addEventListener("advice-taken", assess);

function drawOpen() {
  const left = undecided(bench.columns, bench.settings).length;
  openTitle.textContent = `May it go out? ${running ? "One moment" : "Not assessed yet"}`;
  if (openTitle.isConnected) nameOriginal(running ? "being assessed" : "not assessed yet");
  openWords.textContent = left
    ? `${left} of ${bench.columns.length} columns have only a suggested role. The verdict counts them as known to an attacker, and there is no yes until each is confirmed or changed.`
    : `Every column is decided. ${running ? "The table is being assessed; a first answer comes as soon as it is counted." : "Assess the table to know whether it may go out."}`;
}
onChange("settings", drawOpen);
onJobChange("assessment", () => { // once there is a whole result, the note above it has the button to assess again
  const { state } = newestJob("assessment");
  running = !isFinished({ state });
  drawAssessing(running);
  if (running) showActions(null).catch(showProblem);
  button.hidden = running || state === "done"; // one that failed may have published a part of its result
  drawOpen();
});

/** Showing the Risk or Report lens without an assessment starts one. */
export function initVerdict(jobs) {
  const last = newestJob("assessment", jobs);
  wasAsked = Boolean(last);
  const first = () => { if (!wasAsked) assess(); };
  onLens("risk", first);
  onLens("report", () => {
    first();
    const show = showAnswersOf("assessment", reportView, { form: "release", waits: null, placed: () => reportView.querySelector("#verdict")?.remove(), restale: () => {}, silent: true });
    const shown = newestJob("assessment");
    if (shown) show(shown);
  });
  if (!wasAsked) view.replaceChildren(make("p", { class: "soft" }, "Not assessed yet."));
}
