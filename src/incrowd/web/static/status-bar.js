// The bar that is always there: where each step stands, the risk now and after, the limit, what detail is kept.
import { bench, classSize, limit, on } from "./bench.js";
import { count, make, percent, short } from "./app.js";
import { undecided } from "./roles.js";

const BASES = { table: "in the table", population: "in the population", attacks: "by attacks" };
export const basisInWords = (basis) => BASES[basis] ?? BASES.table;
/** The numbers of a candidate when it was saved. */
export const thenInWords = ({ headline, highest, detail }) => `${headline}; ${percent(highest)} at most · ${percent(detail)} detail kept`;
/** What a yes rests on: one line that opens to the sentences; nothing where there is none. */
export function conditionsOf(sentences) {
  if (!sentences.length) return null;
  return make("details", { class: "conditions small" }, make("summary", {}, sentences.length > 1 ? `yes, on ${count(sentences.length)} conditions` : "yes, on one condition"), sentences.map((one) => make("p", {}, one)));
}
const tile = (name) => document.getElementById(`tile-${name}`);
let assessing = false, assessed = null, risk = null; // the assessment whose verdict is in sight, and its highest risk

/** Fill a tile: a number, what it is, and the state of its step. */
function fill(name, strong, words, state = "", more = []) {
  const place = tile(name);
  place.querySelector("strong").textContent = strong;
  place.querySelector("small").textContent = words;
  place.title = [words, ...more].join("\n");
  place.dataset.state = state;
}

function drawColumns() {
  const all = bench.columns.length, open = undecided(bench.columns, bench.now).length;
  fill("columns", `${count(all - open)} of ${count(all)}`, open ? "decided by you" : "decided", open ? "open" : "done");
}

/** The person at highest risk: as the verdict has it once there is one, until then as counted in the table. */
function drawNow() {
  const found = bench.counted;
  const state = !assessed ? "open" : assessed.stale ? "stale" : "done", judged = state === "done" && risk.highest !== null ? risk : null;
  const words = `${basisInWords(judged?.basis)}; ${{ open: assessing ? "being assessed" : "not assessed yet", stale: "assess again", done: "assessed" }[state]}`;
  fill("risk", judged ? percent(judged.highest) : bench.counting && !found ? "…" : found ? percent(1 / found.k) : "–", words, state);
}

function drawAfter(candidate) {
  if (!candidate) {
    fill("after", "–", "nothing protected yet", "open");
    fill("detail", "–", "nothing protected yet");
    return;
  }
  const state = candidate.stale ? "stale" : candidate.decision === "within" ? "done" : "open";
  const ifs = state === "done" ? candidate.conditions : [], words = { stale: "old settings", done: ifs.length ? "may go out, on conditions" : "may go out", open: "not yes" }[state];
  tile("after").toggleAttribute("data-ifs", ifs.length > 0);
  fill("after", percent(candidate.highest), `${basisInWords(candidate.highest_basis)}; ${words}: ${short(candidate.name, 40)}`, state, ifs);
  fill("detail", percent(candidate.detail), candidate.detail_words, "", candidate.perturbed.length ? ["no class is promised"] : [`k = ${count(candidate.after.k)}`]);
}
export { drawAfter };

function drawLimit() {
  const words = document.querySelector(`#recipient option[value="${CSS.escape(bench.now.recipient)}"]`)?.textContent ?? "";
  fill("limit", `1/${count(classSize())}`, `${percent(limit())}, ${words.split(",")[0].toLowerCase()}`);
}

/** The assessment whose verdict is in sight, once it is whole: the bar never says more than the verdict beside it. */
export function drawAssessed(job, highest) {
  if (job.state !== "done") return;
  [assessed, risk] = [job, highest];
  drawNow();
  fill("report", job.stale ? "Old" : "Ready", job.stale ? "assess again for a report" : "report and record", job.stale ? "stale" : "done");
}
/** While the table is assessed anew, nothing of the assessment before is called done. */
export function drawAssessing(isRunning) {
  assessing = isRunning;
  if (assessing) {
    assessed = null;
    fill("report", "–", "being assessed", "open");
  }
  drawNow();
}
on("settings", () => { drawColumns(); drawLimit(); });
on("counted", drawNow);
