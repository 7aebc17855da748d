// The Leak lens: sliders for the size of the leak, the number of targets, and k. Each move sends a request.
import { showAnswersOf } from "./answers.js";
import { announce, api, count, debounced, percent, showProblem, table } from "./app.js";
import { isFinished, onJobChange, startJob } from "./jobs.js";
import { parseNumber } from "./numbers.js";
import { classSize, highestAccepted, onChange } from "./bench.js";
import { isShown, onShown } from "./places.js";

const SHARES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1];
const view = document.getElementById("leak-view");
const share = document.getElementById("share"), targets = document.getElementById("targets"), k = document.getElementById("leak-k"), bound = document.getElementById("bound");
const said = { share: document.getElementById("share-said"), targets: document.getElementById("targets-said"), k: document.getElementById("leak-k-said") };
const chance = document.getElementById("leak-now");
let isAsking = false, askAgain = false, running = false, moved = false, kMoved = false;

function describeSliders() {
  const part = `${(100 * SHARES[Number(share.value)]).toLocaleString("en-US")}%`;
  said.share.textContent = `${part} of the people`;
  share.setAttribute("aria-valuetext", `${part} of the people`);
  said.targets.textContent = targets.value;
  said.k.textContent = k.value;
}

/** Start a job. Only one runs at a time; a move meanwhile starts another one at its end. */
async function startLeak() {
  moved = false;
  running = true;
  try {
    await startJob(`/tables/${table}/leaks`, { share: SHARES[Number(share.value)], targets: [Number(targets.value)], k: Number(k.value), at_most: Number(bound.value) });
  } catch (error) { running = false; showProblem(error); }
}
const askSoon = debounced(() => { if (running) moved = true; else startLeak(); });
onJobChange("leak", (job) => {
  if (!isFinished(job)) return;
  running = false;
  if (moved) startLeak();
});

/** Show the chance while the slider moves; the figure follows when it rests. Only one request runs at a time. */
async function showChance() {
  if (isAsking) { askAgain = true; return; }
  isAsking = true;
  try {
    const found = await api("POST", `/tables/${table}/leak-now`, { share: SHARES[Number(share.value)], targets: [Number(targets.value)] }), risk = found.risks[0];
    const highest = risk.highest === null ? "" : `; ${percent(risk.highest)} for the person at highest risk`;
    chance.textContent = `${risk.odds}: ${percent(risk.probability)} on average to name ${risk.targets === 1 ? "the person" : `all ${risk.targets} people`} from a leak of ${count(risk.leaked)}${highest}`;
    chance.dataset.leaked = String(risk.leaked);
  } catch (error) { showProblem(error); }
  isAsking = false;
  if (askAgain) { askAgain = false; showChance(); }
}
for (const slider of [share, targets, k, bound]) slider.addEventListener("input", () => { describeSliders(); askSoon(); if (slider !== bound) showChance(); });
document.getElementById("leak").addEventListener("submit", (event) => event.preventDefault());

/** Start a simulation of leaks, also with targets known to have leaked and partial histories. */
async function simulate() {
  const given = (id) => parseNumber(document.getElementById(id).value);
  try {
    await startJob(`/tables/${table}/leak-simulations`, {
      share: SHARES[Number(share.value)], targets: Number(targets.value), targets_from: document.getElementById("targets-from").value,
      records_leaked: given("records-leaked"), records_known: given("records-known"), error_rate: given("error-rate"),
    });
  } catch (error) { showProblem(error); }
}
document.getElementById("simulation").addEventListener("submit", (event) => { event.preventDefault(); simulate(); });

/** Set the highest accepted chance and the class size to those of the recipient, unless the user has chosen others. */
function fillLimits() {
  const [own, ...others] = bound.options;
  own.value = String(highestAccepted());
  own.textContent = `1/${classSize()}, ${Number((100 * highestAccepted()).toPrecision(3))}% (for this table)`;
  for (const other of others) other.hidden = other.value === own.value;
  if (!kMoved) { k.max = String(Math.max(50, classSize())); k.value = String(classSize()); }
  describeSliders();
}
k.addEventListener("input", () => { kMoved = true; });

export function initLeak() {
  showAnswersOf("leak", view, { again: askSoon, quiet: true, shown: () => announce(view.querySelector("figcaption p")?.textContent || ""), restale: () => { if (isShown("leak")) askSoon(); } });
  showAnswersOf("simulation", document.getElementById("simulation-view"), { again: simulate });
  fillLimits();
  onChange("settings", fillLimits);
  onShown("leak", askSoon, askSoon);
}
