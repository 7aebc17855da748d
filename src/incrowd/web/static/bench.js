// The open table as all parts of the workbench share it: its columns, settings and counts. What changes is told to every part.
import { api, problem, refreshJobs, save, settings, settled, table } from "./app.js";
import { smallestClass } from "./numbers.js";
import { filledGroups, withRole } from "./roles.js";

export const bench = { about: null, columns: [], now: null, counted: null };
const listeners = { settings: [], counted: [] };
let saving = Promise.resolve(), pending = 0, refused = false, asked = 0, puts = 0;

/** Call `action` whenever the settings (or the counts by them) have changed. */
export function on(what, action) { listeners[what].push(action); }
function tell(what) { for (const action of listeners[what]) action(); }

export const known = () => withRole(bench.columns, bench.now, "quasi-identifier");
export const person = () => withRole(bench.columns, bench.now, "person")[0] ?? null;
export const limit = () => bench.now.highest ?? bench.limits[bench.now.recipient].highest;
export const classSize = () => smallestClass(limit());

/** Take the settings as they are kept: at the start, after undo, after a refusal. */
function take(kept) {
  bench.now = kept;
  tell("settings");
  count();
  outdated();
}

/** Take a change at once, and keep it; what is kept comes in the order of the clicks. */
export function put(changes, kept = changes) {
  bench.now = { ...bench.now, ...changes };
  tell("settings");
  if (["roles", "groups", "decided"].some((name) => name in changes)) count();
  pending += 1;
  puts += 1;
  saving = save(kept).finally(() => { pending -= 1; }).then(outdated, async (error) => {
    refused = true;
    problem(error);
    take(await settings());
  });
  return saving;
}

/** Take the settings as the server has them now: something else than this page has changed them. */
export async function reread() { take(await settings()); }

/** The settings without the order in which things were decided. */
const plain = (kept) => JSON.stringify({ ...kept, decided: [...kept.decided].sort(), roles: Object.entries(kept.roles).sort(), groups: filledGroups(kept.groups) });

/** Take what another page has changed, unless a change of this one is on its way. */
export async function inStep() {
  const before = puts; // what is put meanwhile is newer than any answer
  if (pending) return;
  const about = await api("GET", `/tables/${table}`);
  if (!pending && before === puts && JSON.stringify(about.reading) !== JSON.stringify(bench.about.reading)) { await reopen(); return; }
  const kept = await settings();
  if (!pending && before === puts && plain(kept) !== plain(bench.now)) take(kept);
}

/** Keep a change and take the settings as they are then, with all that follows from it. */
export async function keep(changes) { take(await save(changes)); }

/** Everything is kept; false where a change was refused since the last time. */
export async function allKept() {
  await saving;
  const kept = !refused;
  refused = false;
  return kept;
}

const outdated = settled(() => refreshJobs().catch(problem), 150); // which results are out of date is said by the server

/** Count by the roles as they are now; an answer that comes late is left out. */
export async function count() {
  const mine = ++asked, groups = filledGroups(bench.now.groups), question = { quasi_identifiers: known(), person: person() };
  bench.counting = true;
  tell("counted");
  try {
    const [crowd, live] = await Promise.all([
      api("POST", `/tables/${table}/crowd`, question),
      Object.keys(groups).length ? api("POST", `/tables/${table}/live`, { ...question, groups }) : { groups: [] },
    ]);
    if (mine === asked) Object.assign(bench, { counted: { ...crowd, k: crowd.sizes[0], groups: live.groups }, counting: false });
  } catch (error) {
    if (mine === asked) Object.assign(bench, { counted: null, counting: false });
    problem(error);
  }
  if (mine === asked) tell("counted");
}

/** Read the table and its settings. `limits` are those of every recipient. */
export async function open(limits) {
  bench.limits = limits;
  await reopen();
}

/** Read the table and its settings again: its file may be read in another way now. */
export async function reopen() {
  const [about, triage, found] = await Promise.all([api("GET", `/tables/${table}`), api("GET", `/tables/${table}/columns`), settings()]);
  Object.assign(bench, { about, columns: triage.columns, reading: triage.reading, takesNull: triage.takes_null, now: found });
  document.dispatchEvent(new CustomEvent("reopened"));
  tell("settings");
  outdated();
  await count();
}
document.addEventListener("stepped", (event) => take(event.detail));
