// The bar that is always there: where each step stands, the risk now and after, the limit, what detail is kept.
import { bench, classSize, limit, on } from "./bench.js";
import { count, percent, table, watch } from "./app.js";
import { undecided } from "./roles.js";

const tile = (name) => document.getElementById(`tile-${name}`);
const last = new Map(); // the newest whole answer of each kind

/** Fill a tile: a number, what it is, and the state of its step. */
function fill(name, strong, words, state = "") {
  const place = tile(name);
  place.querySelector("strong").textContent = strong;
  place.querySelector("small").textContent = words;
  place.dataset.state = state;
}

function drawColumns() {
  const all = bench.columns.length, open = undecided(bench.columns, bench.now).length;
  fill("columns", `${count(all - open)} of ${count(all)}`, open ? "decided; no yes until all are" : "decided", open ? "open" : "done");
}

/** Counts are the table's own; whether that is enough is said by the assessment. */
function drawNow() {
  const found = bench.counted, assessed = last.get("assessment");
  const state = !assessed ? "open" : assessed.stale ? "stale" : "done";
  const words = { open: "highest, not assessed yet", stale: "highest, verdict out of date", done: "highest in the table, assessed" }[state];
  fill("risk", bench.counting && !found ? "…" : found ? percent(1 / found.k) : "–", words, state);
}

function drawAfter(candidate) {
  if (!candidate) {
    fill("after", "–", "nothing protected yet", "open");
    fill("detail", "–", "of the columns others may know");
    return;
  }
  const state = candidate.stale ? "stale" : candidate.decision === "within" ? "done" : "open";
  const words = { stale: "highest in the table, other settings", done: "highest in the table, may go out", open: "highest in the table, no yes yet" }[state];
  fill("after", percent(1 / candidate.after.k), words, state);
  fill("detail", percent(candidate.detail), `with k = ${count(candidate.after.k)}`);
}
export { drawAfter };

function drawLimit() {
  const words = document.querySelector(`#recipient option[value="${CSS.escape(bench.now.recipient)}"]`)?.textContent ?? "";
  fill("limit", `1/${count(classSize())}`, `${words}: ${percent(limit())} at most`);
}

watch((job) => job.table === table && job.kind === "assessment" && job.state === "done", (job) => {
  const before = last.get(job.kind);
  if (before && before.created > job.created) return;
  last.set(job.kind, job);
  if (bench.now) drawNow();
  fill("report", job.stale ? "Old" : "Ready", job.stale ? "assess again for a report" : "report and record", job.stale ? "stale" : "done");
});
on("settings", () => { drawColumns(); drawLimit(); });
on("counted", drawNow);
