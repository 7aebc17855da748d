// The state of the workbench: the open table with its columns, settings and counts. Listeners are notified of changes.
import { api, clearProblem, debounced, loadSettings, requestCounter, saveSettings, showProblem, table } from "./app.js";
import { refreshJobs } from "./jobs.js";
import { smallestClass } from "./numbers.js";
import { countedAsKnown, filledGroups, withRole } from "./roles.js";

export const bench = { info: null, columns: [], settings: null, counts: null };
const listeners = { settings: [], counted: [] };
let saving = Promise.resolve(), pending = 0, refused = false, changeCount = 0;

/** Call `action` after every change of the "settings", or of the counts ("counted"). */
export function onChange(what, action) { listeners[what].push(action); }
function notify(what) { for (const action of listeners[what]) action(); }

export const knownColumns = () => withRole(bench.columns, bench.settings, "quasi-identifier");
/** The columns by which people are counted, also those that nobody has judged. */
export const countedColumns = () => countedAsKnown(bench.columns, bench.settings);
export const personColumn = () => withRole(bench.columns, bench.settings, "person")[0] ?? null;
export const highestAccepted = () => bench.settings.highest ?? bench.limits[bench.settings.recipient].highest;
export const classSize = () => smallestClass(highestAccepted());

/** Show saved settings: at the start, after undo, after a refused change. */
function useSettings(saved) {
  bench.settings = saved;
  notify("settings");
  countClasses();
  refreshStale();
}

/** Show a change at once and save it; changes are saved in order. `sent` is the part to send if it differs from what is shown. */
export function changeSettings(changes, sent = changes) {
  document.getElementById("undone").textContent = ""; // what was undone is not the last change any more
  clearProblem(); // a problem before this change is over, or is told again
  bench.settings = { ...bench.settings, ...changes };
  notify("settings");
  if (["roles", "groups", "decided"].some((name) => name in changes)) countClasses();
  pending += 1;
  changeCount += 1;
  saving = saveSettings(sent).finally(() => { pending -= 1; }).then(refreshStale, async (error) => {
    refused = true;
    showProblem(error);
    useSettings(await loadSettings());
  }).catch(showProblem); // no answer at all
  return saving;
}

/** Show the server's settings after something other than this page has changed them. */
export async function reloadSettings() { useSettings(await loadSettings()); }

/** The settings as text, independent of the order of columns. */
const comparable = (settings) => JSON.stringify({ ...settings, decided: [...settings.decided].sort(), roles: Object.entries(settings.roles).sort(), groups: filledGroups(settings.groups) });

/** Show the changes of another page, unless a change of this page is being saved. */
export async function followOtherPages() {
  const before = changeCount; // a change during the requests is newer than their responses
  if (pending) return;
  const info = await api("GET", `/tables/${table}`);
  if (!pending && before === changeCount && JSON.stringify(info.reading) !== JSON.stringify(bench.info.reading)) { await reloadTable(); return; }
  const saved = await loadSettings();
  if (!pending && before === changeCount && comparable(saved) !== comparable(bench.settings)) useSettings(saved);
}

/** Save a change, then show the settings of the response. */
export async function saveAndUse(changes) { useSettings(await saveSettings(changes)); }

/** Wait until all changes are saved; false if one was refused since the last call. */
export async function allSaved() {
  await saving;
  const isSaved = !refused;
  refused = false;
  return isSaved;
}

const refreshStale = debounced(() => refreshJobs().catch(showProblem), 150); // the server decides which results are stale

const countCounts = requestCounter();
/** Count classes by the current roles; a late response is dropped. */
async function countClasses() {
  const isNewest = countCounts(), groups = filledGroups(bench.settings.groups), question = { quasi_identifiers: countedColumns(), person: personColumn() };
  bench.isCounting = true;
  notify("counted");
  try {
    const [crowd, live] = await Promise.all([
      api("POST", `/tables/${table}/crowd`, question),
      Object.keys(groups).length ? api("POST", `/tables/${table}/live`, { ...question, groups }) : { groups: [] },
    ]);
    if (isNewest()) Object.assign(bench, { counts: { ...crowd, k: crowd.sizes[0], groups: live.groups }, isCounting: false });
  } catch (error) {
    if (isNewest()) Object.assign(bench, { counts: null, isCounting: false });
    showProblem(error);
  }
  if (isNewest()) notify("counted");
}

/** Load the table and its settings. `limits` are those of every recipient. */
export async function openTable(limits) {
  bench.limits = limits;
  await reloadTable();
}

/** Load the table and its settings again, after its file was read with other options. */
export async function reloadTable() {
  const [info, triage, settings] = await Promise.all([api("GET", `/tables/${table}`), api("GET", `/tables/${table}/columns`), loadSettings()]);
  Object.assign(bench, { info, columns: triage.columns, reading: triage.reading, takesNull: triage.takes_null, settings });
  document.dispatchEvent(new CustomEvent("table-reloaded"));
  notify("settings");
  refreshStale();
  await countClasses();
}
document.addEventListener("settings-restored", (event) => useSettings(event.detail));
