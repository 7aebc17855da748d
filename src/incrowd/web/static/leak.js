// Sliders for the size of a leak, how many people are looked for, and k. Each move asks the library again.
import { answersOf } from "./answers.js";
import { api, count, over, percent, problem, say, settled, start, table, watch, written } from "./app.js";
import { classSize, limit, on } from "./bench.js";
import { lens, looking } from "./lenses.js";

const SHARES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1];
const view = document.getElementById("leak-view");
const share = document.getElementById("share"), targets = document.getElementById("targets"), k = document.getElementById("leak-k"), bound = document.getElementById("bound");
const said = { share: document.getElementById("share-said"), targets: document.getElementById("targets-said"), k: document.getElementById("leak-k-said") };
const quick = document.getElementById("leak-now");
let hurried = false, again = false, running = false, moved = false, kMoved = false;

function words() {
  const part = `${(100 * SHARES[Number(share.value)]).toLocaleString("en-US")}%`;
  said.share.textContent = `${part} of the people`;
  share.setAttribute("aria-valuetext", `${part} of the people`);
  said.targets.textContent = targets.value;
  said.k.textContent = k.value;
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

/** The chance at once, while the slider moves; the figure follows when it rests. One question at a time, the last one counts. */
async function atOnce() {
  if (hurried) { again = true; return; }
  hurried = true;
  try {
    const found = await api("POST", `/tables/${table}/leak-now`, { share: SHARES[Number(share.value)], targets: [Number(targets.value)] }), risk = found.risks[0];
    quick.textContent = `${risk.odds}: ${percent(risk.probability)} to name ${risk.targets === 1 ? "the person" : `all ${risk.targets} people`} from a leak of ${count(risk.leaked)}`;
    quick.dataset.leaked = String(risk.leaked);
  } catch (error) { problem(error); }
  hurried = false;
  if (again) { again = false; atOnce(); }
}
for (const slider of [share, targets, k, bound]) slider.addEventListener("input", () => { words(); ask(); if (slider !== bound) atOnce(); });
document.getElementById("leak").addEventListener("submit", (event) => event.preventDefault());

/** Leaks that are simulated: who is known to have leaked, and histories that leak or are known in part. */
async function simulate() {
  const given = (id) => written(document.getElementById(id).value);
  try {
    await start(`/tables/${table}/leak-simulations`, {
      share: SHARES[Number(share.value)], targets: Number(targets.value), targets_from: document.getElementById("targets-from").value,
      records_leaked: given("records-leaked"), records_known: given("records-known"), error_rate: given("error-rate"),
    });
  } catch (error) { problem(error); }
}
document.getElementById("simulation").addEventListener("submit", (event) => { event.preventDefault(); simulate(); });

/** The highest chance that is accepted and the size of classes are those for the recipient, unless others are chosen. */
function accepted() {
  const [own, ...others] = bound.options;
  own.value = String(limit());
  own.textContent = `1/${classSize()}, ${Number((100 * limit()).toPrecision(3))}% (for this table)`;
  for (const other of others) other.hidden = other.value === own.value;
  if (!kMoved) { k.max = String(Math.max(50, classSize())); k.value = String(classSize()); }
  words();
}
k.addEventListener("input", () => { kMoved = true; });

export function begin() {
  answersOf("leak", view, { again: ask, quiet: true, shown: () => say(view.querySelector("figcaption p")?.textContent || ""), restale: () => { if (looking() === "leak") ask(); } });
  answersOf("simulation", document.getElementById("simulation-view"), { again: simulate });
  accepted();
  on("settings", accepted);
  lens("leak", ask, ask);
}
