// Sliders for the size of a leak, how many people are looked for, and k. Each move asks the library again.
import { answersOf } from "./answers.js";
import { over, problem, resume, say, settled, start, table, watch } from "./app.js";

const SHARES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1];
const view = document.getElementById("view");
const share = document.getElementById("share"), targets = document.getElementById("targets"), k = document.getElementById("k"), bound = document.getElementById("bound");
let running = false, moved = false;

function words() {
  const part = `${(100 * SHARES[Number(share.value)]).toLocaleString("en-US")}%`;
  document.getElementById("share-said").textContent = `${part} of the people`;
  share.setAttribute("aria-valuetext", `${part} of the people`);
  document.getElementById("targets-said").textContent = targets.value;
  document.getElementById("k-said").textContent = k.value;
}

/** One question at a time: what was moved meanwhile is asked when the answer is there. */
async function go() {
  moved = false;
  running = true;
  try {
    await start(`/tables/${table}/leaks`, { share: SHARES[Number(share.value)], targets: [Number(targets.value)], k: Number(k.value), at_most: Number(bound.value) });
  } catch (error) { running = false; problem(error); }
}
const ask = settled(() => { if (running) moved = true; else go(); });
watch((job) => job.kind === "leak" && job.table === table && over(job), () => { running = false; if (moved) go(); });

answersOf("leak", view, { again: ask, quiet: true, shown: () => say(view.querySelector("figcaption p")?.textContent || "") });
for (const slider of [share, targets, k, bound]) slider.addEventListener("input", () => { words(); ask(); });
document.getElementById("leak").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("stepped", ask);
try {
  words();
  await resume();
  ask();
} catch (error) { problem(error); }
