// The form for protecting the table.
import { api, clearProblem, make, shorten, showProblem, table } from "./app.js";
import { startJob } from "./jobs.js";
import { parseNumber } from "./numbers.js";
import { allSaved, bench, changeSettings, classSize, onChange, saveAndUse } from "./bench.js";
import { checkDemands, readDemands } from "./demands.js";
import { show } from "./places.js";
import { checkedColumns, fillFields, offerColumns, readFields, showFields } from "./option-fields.js";
import { fillSecrets, releasedSecrets, secretColumns, selectOption, selectSecrets } from "./kept-secrets.js";
import { fillTables } from "./other-tables.js";
import { focusWrongField } from "./question.js";
import { hasRole, undecided } from "./roles.js";
import { drawSteps, readSteps } from "./steps.js";

const form = document.getElementById("protection");
const method = document.getElementById("method"), k = document.getElementById("k"), t = document.getElementById("t"), l = document.getElementById("l"), everybody = document.getElementById("k-map-people");
const resolution = document.getElementById("resolution"), sensitive = document.getElementById("sensitive"), output = document.getElementById("output");
const columns = document.getElementById("column-limits"), refused = document.getElementById("refused"), suggested = document.getElementById("suggested"), leavesOut = document.getElementById("leaves-out"), more = document.getElementById("more-ways");
const PARTS = [["", "as above"], ["64", "64 parts"], ["32", "32 parts"], ["16", "16 parts"], ["8", "8 parts"], ["4", "4 parts"], ["2", "2 parts"]];
const ACTIONS = [
  ["", "leave as it is"], ["ranges=20", "20 ranges"], ["ranges=10", "10 ranges"], ["ranges=5", "5 ranges"],
  ["keep=3", "keep 3 letters"], ["keep=2", "keep 2 letters"], ["keep=1", "keep 1 letter"], ["*", "hide it"],
];
const BY_COLUMN = "by column"; // an output for each column, which the form cannot show
let knownColumns = [], filled = "", keptSecret = "", listed = "", untouched = true;
const SOLVING = `solving ${table}`; // the key of the search that this tab has started, which survives a reload

const FORM = { k: ["k"], resolution: ["resolution"], columns: ["resolution", "steps"], map: ["k_map"], perturbation: ["perturbation"] }; // parts of the form and the inputs they serve

/** A method of the list: its label, and the inputs that it takes. */
const methodOf = (option) => ({ label: option.textContent, inputs: option.dataset.inputs.split(" ") });
/** True if the chosen method takes an input. */
function methodTakes(input) { return methodOf(method.selectedOptions[0]).inputs.includes(input); }
/** The options that need no code of their own, checked beside the demands on secrets and against the method. */
const furtherOptions = (demands) => readFields(demands, methodOf(method.selectedOptions[0]), [...method.options].map(methodOf));

/** Say beside the buttons why nothing was made; older results are marked as older. */
export function refuse(error) {
  refused.replaceChildren(error.message, ...(error.link ?? []));
  document.dispatchEvent(new CustomEvent("protection-refused"));
}
/** Remove what was said about an earlier request. */
function clearRefusals() {
  clearProblem();
  form.querySelectorAll(".wrong").forEach((one) => { one.textContent = ""; });
  document.dispatchEvent(new CustomEvent("protection-asked"));
}
/** Refuse to start a job while a field is wrong or a change is not saved. */
async function canStart() {
  clearRefusals();
  if (focusWrongField()) throw new Error("A number above is not right: see the field that is marked.");
  if (!(await allSaved())) throw new Error("A change before this was not accepted. Look at the settings, and press again.");
}

function showFittingFields() {
  document.getElementById("k-said").textContent = k.value;
  document.getElementById("k-help").textContent = k.value === "2" ? "Everybody looks like at least one other." : `Everybody looks like at least ${Number(k.value) - 1} others.`;
  const unused = !methodTakes("hierarchies") && Object.keys(knownColumnOptions().hierarchies).length;
  document.getElementById("method-help").textContent = method.selectedOptions[0].dataset.help + (unused ? " How columns are made coarser, as you set it, is not used." : "");
  form.querySelectorAll(".for-t").forEach((one) => { one.hidden = !methodTakes("t") && !methodTakes("l") && !t.value && !l.value && !sensitive.value; }); // a field that is filled stays visible
  showFields(methodOf(method.selectedOptions[0]));
  const gone = checkedColumns().leave_out;
  leavesOut.hidden = !gone.length;
  leavesOut.textContent = `Also leaves out ${shorten(gone.join(", "), 120)}, as set under “Method and other demands”.`;
  for (const [what, inputs] of Object.entries(FORM)) form.querySelectorAll(".for-" + what).forEach((one) => { one.hidden = !inputs.some(methodTakes); });
  if (FORM.columns.some(methodTakes) && columns.dataset.method !== method.value) drawColumns();
  if (methodTakes("perturbation") && columns.dataset.method !== method.value) drawPerturbation();
}

/** Draw the limits of single columns: their number of parts, or the steps of masking in their order. */
function drawColumns() {
  columns.dataset.method = method.value;
  const byHand = methodTakes("steps"), kept = bench.settings.protection, mine = kept.method === method.value;
  const steps = mine ? kept.steps : [], parts = mine && kept.resolution !== null && typeof kept.resolution === "object" ? kept.resolution : {};
  const turn = (column) => { const place = steps.findIndex((one) => one.column === column.name); return place < 0 ? steps.length : place; };
  columns.replaceChildren(...[...knownColumns].sort((a, b) => turn(a) - turn(b)).map((column) => {
    const name = shorten(column.name);
    const choice = make("select", { class: "how", "aria-label": `What to do with ${name}` }, (byHand ? ACTIONS : PARTS).map(([value, words]) => make("option", { value }, words)));
    const ends = byHand && ["integer", "number"].includes(column.type) ? [
      make("input", { class: "bottom", inputmode: "decimal", placeholder: "lowest", "aria-label": `Lowest value of ${name} that stays` }),
      make("input", { class: "top", inputmode: "decimal", placeholder: "highest", "aria-label": `Highest value of ${name} that stays` }),
    ] : [];
    const set = byHand ? steps.filter((one) => one.column === column.name).map((one) => one.action).join(" ") : String(parts[column.name] ?? "");
    selectOption(choice, set, byHand ? set : `${set} parts`);
    for (const end of ends) end.value = mine ? String(kept[end.className][column.name] ?? "") : "";
    return make("div", { class: "limit", "data-column": column.name }, make("bdi", {}, name), choice, ...ends);
  }));
}

/** Draw the steps of perturbation, for all columns that are released. */
function drawPerturbation() {
  columns.dataset.method = method.value;
  const passedOn = bench.columns.filter(({ name }) => ["quasi-identifier", "sensitive", "both", "other"].includes(bench.settings.roles[name])).map(({ name }) => name);
  drawSteps(bench.settings.protection.method === method.value ? bench.settings.protection.steps : [], passedOn);
}

function columnLimits() {
  const found = { steps: [], top: {}, bottom: {}, parts: {} };
  for (const row of columns.querySelectorAll(".limit")) {
    const column = row.dataset.column, how = row.querySelector(".how").value;
    if (how) found.steps.push(...how.split(" ").map((action) => ({ column, action })));
    if (how) found.parts[column] = Number(how);
    for (const end of ["top", "bottom"]) {
      const value = parseNumber(row.querySelector("." + end)?.value || "");
      if (value !== null) found[end][column] = value;
    }
  }
  return found;
}

/** The hierarchies and importance of the known columns, which have their own dialog. */
function knownColumnOptions() {
  const of = (given) => Object.fromEntries(Object.entries(given).filter(([name]) => knownColumns.some((column) => column.name === name)));
  return { hierarchies: of(bench.settings.protection.hierarchies), importance: of(bench.settings.protection.importance) };
}

function readForm() {
  const demands = formDemands(), wanted = { method: method.value, output: output.value === BY_COLUMN ? bench.settings.protection.output : output.value || null, ...knownColumnOptions(), ...demands, ...furtherOptions(demands) };
  if (methodTakes("k")) wanted.k = Number(k.value);
  if (methodTakes("resolution")) {
    const own = columnLimits().parts, all = Number(resolution.value);
    wanted.resolution = Object.keys(own).length ? Object.fromEntries(knownColumns.map((column) => [column.name, own[column.name] ?? all])) : all;
  }
  if (methodTakes("steps")) {
    const { steps, top, bottom } = columnLimits();
    if (!steps.length && !Object.keys(top).length && !Object.keys(bottom).length) throw new Error("Say for at least one column what is to be done with it.");
    Object.assign(wanted, { steps, top, bottom });
  }
  if (methodTakes("perturbation")) wanted.steps = readSteps();
  checkDemands(wanted, Object.keys(wanted.importance), methodOf(method.selectedOptions[0]), [...method.options].map(methodOf));
  if (wanted.k_map !== null && !everybody.value && bench.settings.population === null) throw new Error("Say how many people the population has (above, under “Who is to get it?”), or choose a table of everybody to count them in.");
  if (wanted.k_map !== null) wanted.population_table = everybody.value || null;
  return wanted;
}

/** The demands on secrets, which are saved with any method: one that cannot keep them says so when it is used. */
const formDemands = () => readDemands({ secrets: secretColumns(), l: l.value, t: t.value });
for (const field of [sensitive, l, t]) field.addEventListener("change", () => {
  if (field === sensitive) { offerColumns(secretColumns()); showFittingFields(); }
  let demands = null;
  try { demands = formDemands(); } catch { return; } // Protect says what is wrong
  changeSettings({ protection: { ...bench.settings.protection, ...demands } }, { protection: demands });
});

/** Options that are cleared unless the request has them; other options stay. */
const CLEARED = { resolution: null, steps: null, top: null, bottom: null, population_table: null };
/** Save the settings, start a protection by them, and show the candidates. */
export async function protect(wanted = null) {
  await canStart();
  untouched = false;
  if (wanted) await saveAndUse({ protection: { ...CLEARED, ...wanted } });
  await startJob(`/tables/${table}/protections`, {});
  show("safe");
  document.dispatchEvent(new CustomEvent("protecting"));
}
form.addEventListener("submit", async (event) => { event.preventDefault(); clearRefusals(); try { await protect(readForm()); } catch (error) { refuse(error); } });
form.addEventListener("change", (event) => { if (event.target.closest("#leave-out")) { fillSecrets(); showFittingFields(); } });
form.addEventListener("input", (event) => { refused.textContent = ""; if (event.target === sensitive || event.target === l) suggested.hidden = true; showFittingFields(); });

/** Start a comparison of all methods, with the class size of the form among the compared ones. */
export async function compare() {
  await canStart();
  const sizes = [3, 5, classSize(), 2 * classSize(), ...(methodTakes("k") ? [Number(k.value)] : [])];
  const sensible = [...new Set(sizes)].filter((size) => size >= 2 && size <= Math.max(2, bench.info.rows / 2)).sort((a, b) => a - b);
  const secrets = secretColumns(), secret = secrets.length > 1 ? secrets : secrets[0] ?? null, { hierarchies, importance } = knownColumnOptions(), { leave_out } = checkedColumns(), demands = { hierarchies, importance, leave_out, l: secret ? parseNumber(l.value) : null };
  await startJob(`/tables/${table}/frontiers`, { sensitive: secret, k: sensible, protection: demands });
  show("safe");
  document.dispatchEvent(new CustomEvent("comparing"));
}
/** Refuse a search while columns are undecided: nothing could pass, since the verdict takes them as known. */
function refuseUndecided() {
  const open = undecided(bench.columns, bench.settings).length;
  if (!open) return;
  const error = new Error(`Decide the columns first: ${open} of ${bench.columns.length} ${open === 1 ? "is" : "are"} not decided, and nothing passes before. `);
  error.link = [make("a", { href: "#columns", class: "decide-columns" }, "Decide them")];
  throw error;
}
/** Start the search for the least loss that passes, with the demands of the form; suggested values are no demands. */
export async function solve() {
  await canStart();
  const protection = readForm();
  refuseUndecided();
  if (!suggested.hidden) { delete protection.sensitive; delete protection.l; }
  untouched = false;
  sessionStorage.setItem(SOLVING, (await startJob(`/tables/${table}/solutions`, { seconds: 120, protection })).id);
  show("safe");
  document.dispatchEvent(new CustomEvent("protecting"));
}
/** Save the settings that the search has found, unless the form has changed since. */
document.addEventListener("candidate-shown", async (event) => {
  if (event.detail !== sessionStorage.getItem(SOLVING)) return;
  sessionStorage.removeItem(SOLVING);
  try {
    const [job, { protection }] = await Promise.all([api("GET", `/jobs/${event.detail}`), api("GET", `/jobs/${event.detail}/result`)]);
    if (!job.stale) await saveAndUse({ protection });
  } catch (error) { showProblem(error); }
});
more.addEventListener("toggle", () => { if (more.open) fillTables([everybody]).catch(showProblem); });
document.getElementById("solve").addEventListener("click", () => solve().catch(refuse));
document.getElementById("compare").addEventListener("click", () => compare().catch(refuse));

/** Fill the lists of columns by the current roles; the choices stay. */
function fillLists() {
  knownColumns = bench.columns.filter(({ name }) => hasRole(bench.settings.roles[name], "quasi-identifier"));
  fillSecrets();
  delete columns.dataset.method;
}

/** Fill in the demands on secrets of the settings. */
function fillDemands() {
  l.value = bench.settings.protection.l ?? "";
  t.value = bench.settings.protection.t ?? "";
  selectSecrets([bench.settings.protection.sensitive ?? []].flat());
}

/** Fill the form from the settings. */
function fill() {
  const kept = bench.settings.protection;
  selectOption(method, kept.method);
  k.max = String(Math.max(50, kept.k));
  k.value = String(kept.k);
  if (typeof kept.resolution === "number") selectOption(resolution, String(kept.resolution));
  const isFilled = fillFields(kept);
  fillLists(); // without what is left out
  fillDemands();
  if (typeof (kept.output ?? "") === "string") selectOption(output, kept.output ?? "");
  else selectOption(output, BY_COLUMN, "by column, as a script has set it");
  selectOption(everybody, kept.population_table ?? "", "another table");
  suggested.hidden = true;
  if (isFilled || kept.method !== "partition" || kept.output || kept.t) more.open = true; // filled fields are visible
  delete columns.dataset.method;
}

/** Before the first protection, suggest the class size of the recipient, and l for all secrets. */
function suggest() {
  if (bench.settings.protection.k === 5) {
    k.max = String(Math.max(50, classSize()));
    k.value = String(classSize());
  }
  const secrets = releasedSecrets();
  if (suggested.hidden && (sensitive.value || !secrets.length)) return; // the user has chosen, or there is nothing to suggest
  suggested.hidden = !secrets.length;
  selectSecrets(secrets.map(({ name }) => name));
  l.value = secrets.length && secrets.every(({ distinct }) => distinct === null || distinct > 1) ? "2" : "";
  if (!secrets.length) return;
  suggested.textContent = `Suggested, for ${secrets.length > 1 ? `${secrets.length} columns are` : `${shorten(secrets[0].name)} is`} marked as secret: otherwise everybody who looks alike may have the same value.`;
}

/** Update the form after a change of the settings; what was typed stays unless its settings have changed. */
function followSettings() {
  const roles = JSON.stringify(bench.columns.map((column) => bench.settings.roles[column.name])), kept = JSON.stringify({ ...bench.settings.protection, hierarchies: null, importance: null, sensitive: null, l: null, t: null }); // these have their own dialog, or are compared below
  const { sensitive: asked, l: askedL, t: askedT } = bench.settings.protection, secrets = JSON.stringify([asked, askedL, askedT]), had = sensitive.options.length > 1;
  const asks = `${bench.settings.recipient} ${bench.settings.highest}`;
  if (roles !== listed) fillLists();
  if (kept !== filled) fill();
  else if (secrets !== keptSecret) fillDemands();
  if ((untouched || !had) && (roles !== listed || kept !== filled || asks !== form.dataset.asks)) suggest();
  [listed, filled, keptSecret, form.dataset.asks] = [roles, kept, secrets, asks];
  showFittingFields();
}
onChange("settings", followSettings);

/** Enable the form. `protectedBefore`: fill it from the settings, without suggestions. */
export function enableForm(protectedBefore) {
  untouched = !protectedBefore;
  if (protectedBefore) { fill(); showFittingFields(); }
  form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
}
