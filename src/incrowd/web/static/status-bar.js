// The status bar: the state of each step, the risk before and after protection, the limit, and the detail that is kept.
import { bench, classSize, highestAccepted, onChange } from "./bench.js";
import { count, percent, shorten } from "./app.js";
import { countedBy, undecided } from "./roles.js";

const BASES = { table: "in the table", population: "in the population", attacks: "by attacks" };
export const basisInWords = (basis) => BASES[basis] ?? BASES.table;
/** The numbers of a candidate when it was saved. */
export const savedInWords = ({ headline, highest, detail }) => `${headline}; ${percent(highest)} at most · ${percent(detail)} detail kept`;
const tile = (name) => document.getElementById(`tile-${name}`);
let assessing = false, assessed = null, risk = null, after = null; // the assessment whose verdict is shown, its highest risk, and the candidate of the bar

/** Fill a tile with a number, its description and the state of its step. */
function fillTile(name, strong, words, state = "", more = []) {
  const place = tile(name);
  place.querySelector("strong").textContent = strong;
  place.querySelector("small").textContent = words;
  place.title = [words, ...more].join("\n");
  place.dataset.state = state;
}

function drawColumns() {
  const all = bench.columns.length, open = undecided(bench.columns, bench.settings).length;
  fillTile("columns", `${count(all - open)} of ${count(all)}`, open ? "decided by you" : "decided", open ? "open" : "done");
}

/** The highest risk: that of the verdict, or without one, that counted in the table. Beside a candidate that is judged by its own classes, it is that of the classes too. */
function drawRisk() {
  const found = bench.counts;
  const state = !assessed ? "open" : assessed.stale ? "stale" : "done", judged = state === "done" && risk.highest !== null ? risk : null;
  const byClasses = judged?.basis === "population" && after && !after.question_changed && after.highest_basis === "table" && after.highest_before !== null;
  const words = !judged && !assessing && countedBy(bench.columns, bench.settings, { short: true }) || `${byClasses ? `in the table, as after; ${percent(judged.highest)} ${basisInWords(judged.basis)}` : basisInWords(judged?.basis)}; ${{ open: assessing ? "being assessed" : "not assessed yet", stale: "assess again", done: "assessed" }[state]}`;
  const ifs = judged?.decision === "within" ? [...judged.conditions, ...bench.info.conditions] : [];
  tile("risk").toggleAttribute("data-ifs", ifs.length > 0);
  fillTile("risk", byClasses ? percent(after.highest_before) : judged ? percent(judged.highest) : bench.isCounting && !found ? "…" : found ? percent(1 / found.k) : "–", words, state, byClasses && after.population_unused ? [...ifs, after.population_unused] : ifs);
}

export function drawAfter(candidate) {
  after = candidate;
  drawRisk();
  if (!candidate) {
    fillTile("after", "–", "nothing protected yet", "open");
    fillTile("detail", "–", "nothing protected yet");
    return;
  }
  const state = candidate.stale ? "stale" : candidate.decision === "within" ? "done" : "open";
  const ifs = state === "done" ? candidate.conditions : [], some = ifs.length === 1 ? "on 1 condition" : `on ${ifs.length} conditions`;
  const short = { stale: "old settings", done: ifs.length ? some : "may go out", open: "not yes" }[state], words = state === "stale" ? short : candidate.headline, basis = basisInWords(candidate.highest_basis); // the whole text is the title: a tile has about 30 letters
  tile("after").toggleAttribute("data-ifs", ifs.length > 0);
  fillTile("after", percent(candidate.highest), `${basis}; ${short}`, state, [`${basis}; ${words} (${shorten(candidate.name, 40)})`, ...ifs]);
  fillTile("detail", percent(candidate.detail), "of columns known to others", "", [candidate.detail_words, ...(candidate.perturbed.length ? ["no class is promised"] : [`k = ${count(candidate.after.k)}`])]);
}

function drawLimit() {
  const words = document.querySelector(`#recipient option[value="${CSS.escape(bench.settings.recipient)}"]`)?.textContent ?? "";
  fillTile("limit", `1/${count(classSize())}`, `${percent(highestAccepted())}, ${words.split(",")[0].toLowerCase()}`);
}

/** Show the finished assessment whose verdict is on the page. */
export function drawAssessed(job, highest) {
  if (job.state !== "done") return;
  [assessed, risk] = [job, highest];
  drawRisk();
  fillTile("report", job.stale ? "Old" : "Ready", job.stale ? "assess again for a report" : "report and record", job.stale ? "stale" : "done");
}
/** While an assessment runs, do not show the previous one as done. */
export function drawAssessing(isRunning) {
  assessing = isRunning;
  if (assessing) assessed = null;
  if (!assessed) fillTile("report", "–", assessing ? "being assessed" : "after an assessment", "open");
  drawRisk();
}
onChange("settings", () => { drawColumns(); drawLimit(); drawRisk(); });
onChange("counted", drawRisk);
