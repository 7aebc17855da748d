// The jobs of the session: they are followed until they end, and the page lists those that it shows nowhere else.
import { announce, api, clearProblem, make, requestCounter, showProblem, table } from "./app.js";

const JOB_NAMES = { assessment: "Assessing", forecast: "Forecasting", points: "Forecasting", leak: "Leak", protection: "Protecting", solution: "Looking for the least loss", frontier: "Comparing methods", release: "Report of a protected table", attack: "Attacking", curve: "Measuring a curve", check: "Checking the law", itemsets: "Counting sets of items", sets: "Protecting items and points", masked: "Counting what fits", regeneration: "Filling masked cells", techniques: "Comparing techniques", simulation: "Simulating leaks" };
export const isFinished = (job) => ["done", "failed", "cancelled"].includes(job.state);
const watchers = [];
export const knownJobs = new Map(); // by id, in their last known state
let timer = null;

/** True if a job is about this table and of one of these kinds. */
export const isOfKind = (job, kinds) => [kinds].flat().includes(job.kind) && (job.table || null) === table;

/** Call `action(job)` on every change of a job of this table that is of one of these kinds. */
export function onJobChange(kinds, action) { watchers.push([kinds, action]); }

/** Poll a job until it is finished; meanwhile the page's list of jobs shows it. */
export function followJob(job) {
  jobChanged(job);
  if (!isFinished(job) && timer === null) timer = setTimeout(poll, 150);
  return job;
}

function jobChanged(job) {
  const before = knownJobs.get(job.id);
  if (before && isFinished(before) && !isFinished(job)) return; // a late response from before the end
  knownJobs.set(job.id, job);
  if (before && ["state", "progress", "stage", "stages", "stale", "question_changed"].every((name) => before[name] === job[name])) return;
  for (const [kinds, action] of watchers) if (isOfKind(job, kinds)) action(job);
  showTray();
}

async function poll() {
  timer = null;
  const open = [...knownJobs.values()].filter((job) => !isFinished(job));
  const answers = await Promise.all(open.map((job) => api("GET", "/jobs/" + job.id).catch((error) => ({ ...job, state: "failed", message: error.message }))));
  answers.forEach(jobChanged);
  if ([...knownJobs.values()].some((job) => !isFinished(job))) timer = setTimeout(poll, 300);
}

export async function cancelJob(job) {
  try {
    const now = await api("POST", `/jobs/${job.id}/cancel`);
    jobChanged(now);
    announce(now.state === "cancelled" ? "Cancelled." : "It was finished already.");
  } catch (error) { showProblem(error); }
}

export function progressBar(job) {
  const value = job.progress === null || job.progress === undefined ? {} : { value: job.progress };
  return make("progress", { max: 1, ...value, "aria-label": `${JOB_NAMES[job.kind] || job.kind}: ${job.stage || job.state}` });
}

const isShownInPage = (job) => document.querySelector(`.waiting[data-job="${CSS.escape(job.id)}"]`)?.checkVisibility() ?? false;

function showTray() {
  const tray = document.getElementById("jobs");
  const open = [...knownJobs.values()].filter((job) => !isFinished(job) && !isShownInPage(job) && job.kind !== "leak");
  tray.hidden = open.length === 0;
  const folded = tray.querySelector("details")?.open === false || (!tray.childElementCount && innerWidth < 1060), elsewhere = (job) => (job.table === table ? "" : ` (${document.querySelector(`#pick-table option[value="${job.table}"]`)?.textContent ?? "another table"})`);
  tray.replaceChildren(make("details", { open: !folded }, make("summary", {}, `In the background (${open.length})`), make("ul", {}, open.map((job) => make("li", {},
    make("div", { class: "line" }, make("span", {}, `${JOB_NAMES[job.kind] || job.kind}${elsewhere(job)}${job.stage ? ": " + job.stage : "…"}`),
      make("button", { type: "button", onclick: () => cancelJob(job), "aria-label": `Cancel: ${JOB_NAMES[job.kind] || job.kind}` }, "Cancel")),
    progressBar(job))))));
}

document.addEventListener("place-shown", showTray); // progress that one place shows is listed at the others

/** Start a job and follow it. */
export async function startJob(path, body) {
  clearProblem();
  return followJob(await api("POST", path, body));
}

/** All jobs of this session. After a reload, unfinished ones are followed again, and of each kind the most complete finished one. */
export async function resumeJobs() {
  const jobs = await api("GET", "/jobs"), best = new Map();
  const worth = (job) => (job.state === "done" ? 2 : job.has_result ? 1 : 0); // a finished result, a part of one, none
  for (const job of jobs) { // the newest first
    const kind = `${job.kind} ${job.table}`;
    if (!isFinished(job) || job.kind === "release") followJob(job);
    else if (!best.has(kind) || worth(job) > worth(best.get(kind))) best.set(kind, job);
  }
  best.forEach(followJob);
  return jobs;
}

/** Request again which known results are stale. */
export async function refreshJobs() {
  const isNewest = countRefresh(), jobs = await api("GET", "/jobs");
  if (isNewest()) for (const job of jobs) if (isFinished(job) && knownJobs.has(job.id)) jobChanged(job);
}
const countRefresh = requestCounter();
