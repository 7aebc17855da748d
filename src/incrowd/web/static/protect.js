// Protecting a table: the form, by hand.
import { api, make, noProblem, problem, say, short, start, table, written } from "./app.js";
import { allKept, bench, classSize, keep, on } from "./bench.js";
import { look } from "./lenses.js";
import { fillTables } from "./other-tables.js";
import { wrongField } from "./question.js";
import { askedSteps, drawSteps } from "./steps.js";

const form = document.getElementById("protection");
const method = document.getElementById("method"), k = document.getElementById("k"), t = document.getElementById("t"), l = document.getElementById("l"), kMap = document.getElementById("k-map"), everybody = document.getElementById("k-map-people");
const resolution = document.getElementById("resolution"), sensitive = document.getElementById("sensitive"), output = document.getElementById("output");
const apart = document.getElementById("apart"), leftOut = document.getElementById("leave-out");
const columns = document.getElementById("column-limits"), suggested = document.getElementById("suggested"), more = document.getElementById("more-ways");
const PARTS = [["", "as above"], ["64", "64 parts"], ["32", "32 parts"], ["16", "16 parts"], ["8", "8 parts"], ["4", "4 parts"], ["2", "2 parts"]];
const ACTIONS = [
  ["", "leave as it is"], ["ranges=20", "20 ranges"], ["ranges=10", "10 ranges"], ["ranges=5", "5 ranges"],
  ["keep=3", "keep 3 letters"], ["keep=2", "keep 2 letters"], ["keep=1", "keep 1 letter"], ["*", "hide it"],
];
const BY_COLUMN = "by column"; // an output for each column, which the form has no place for
const several = new Map(); // lists of columns by the value of their choice

/** The columns that are chosen among the chips in a place. */
const chosen = (place) => [...place.querySelectorAll(":checked")].map((one) => one.value);

/** A chip for each of these columns. */
function drawChips(place, names, checked) {
  place.replaceChildren(...names.map((value) => make("label", { class: "chip" }, make("input", { type: "checkbox", value, checked: checked.includes(value) }), make("bdi", {}, short(value, 30)))));
}

/** Several columns as one choice. */
function asOne(names) {
  const value = JSON.stringify(names);
  several.set(value, names);
  return value;
}
/** The columns of a choice in words. */
const namesOf = (value) => short((several.get(value) ?? [value]).join(", "), 60);
let known = [], filled = "", keptSecret = "", listed = "", untouched = true;
const SOLVING = `solving ${table}`; // the search that was asked for in this tab: a reload does not forget it

const FORM = { k: ["k"], resolution: ["resolution"], columns: ["resolution", "steps"], map: ["k_map"], perturbation: ["perturbation"] }; // parts of the form and the inputs they serve

/** Whether the chosen method has a use for an input. */
function takes(input) { return method.selectedOptions[0].dataset.inputs.split(" ").includes(input); }

function fits() {
  document.getElementById("k-said").textContent = k.value;
  document.dispatchEvent(new CustomEvent("k", { detail: Number(k.value) }));
  document.getElementById("k-help").textContent = k.value === "2" ? "Everybody looks like at least one other." : `Everybody looks like at least ${Number(k.value) - 1} others.`;
  document.getElementById("method-help").textContent = method.selectedOptions[0].dataset.help;
  form.querySelectorAll(".for-t").forEach((one) => { one.hidden = !takes("t") && !t.value && !l.value; }); // what is asked for stays in sight
  form.querySelector(".for-apart").hidden = !apart.childElementCount || (!takes("apart") && !chosen(apart).length);
  form.querySelector(".for-left").hidden = !leftOut.childElementCount;
  for (const [what, inputs] of Object.entries(FORM)) form.querySelectorAll(".for-" + what).forEach((one) => { one.hidden = !inputs.some(takes); });
  if (FORM.columns.some(takes) && columns.dataset.method !== method.value) drawColumns();
  if (takes("perturbation") && columns.dataset.method !== method.value) drawPerturbation();
}

/** Choose in a list, also what a script has set and the list does not offer. */
function choose(list, value, words = value) {
  if (![...list.options].some((one) => one.value === value)) list.append(make("option", { value }, words));
  list.value = value;
}

/** What single columns may be told: their own number of parts, or what is done to those who stand out, in that order. */
function drawColumns() {
  columns.dataset.method = method.value;
  const byHand = takes("steps"), kept = bench.now.protection, mine = kept.method === method.value;
  const steps = mine ? kept.steps : [], parts = mine && kept.resolution !== null && typeof kept.resolution === "object" ? kept.resolution : {};
  const turn = (column) => { const place = steps.findIndex((one) => one.column === column.name); return place < 0 ? steps.length : place; };
  columns.replaceChildren(...[...known].sort((a, b) => turn(a) - turn(b)).map((column) => {
    const name = short(column.name);
    const choice = make("select", { class: "how", "aria-label": `What to do with ${name}` }, (byHand ? ACTIONS : PARTS).map(([value, words]) => make("option", { value }, words)));
    const ends = byHand && ["integer", "number"].includes(column.type) ? [
      make("input", { class: "bottom", inputmode: "decimal", placeholder: "lowest", "aria-label": `Lowest value of ${name} that stays` }),
      make("input", { class: "top", inputmode: "decimal", placeholder: "highest", "aria-label": `Highest value of ${name} that stays` }),
    ] : [];
    const set = byHand ? steps.filter((one) => one.column === column.name).map((one) => one.action).join(" ") : String(parts[column.name] ?? "");
    choose(choice, set, byHand ? set : `${set} parts`);
    for (const end of ends) end.value = mine ? String(kept[end.className][column.name] ?? "") : "";
    return make("div", { class: "limit", "data-column": column.name }, make("bdi", {}, name), choice, ...ends);
  }));
}

/** The steps of perturbation, of any column that is passed on. */
function drawPerturbation() {
  columns.dataset.method = method.value;
  const passedOn = bench.columns.filter(({ name }) => ["quasi-identifier", "sensitive", "other"].includes(bench.now.roles[name])).map(({ name }) => name);
  drawSteps(bench.now.protection.method === method.value ? bench.now.protection.steps : [], passedOn);
}

function limits() {
  const found = { steps: [], top: {}, bottom: {}, parts: {} };
  for (const row of columns.querySelectorAll(".limit")) {
    const column = row.dataset.column, how = row.querySelector(".how").value;
    if (how) found.steps.push(...how.split(" ").map((action) => ({ column, action })));
    if (how) found.parts[column] = Number(how);
    for (const end of ["top", "bottom"]) {
      const value = written(row.querySelector("." + end)?.value || "");
      if (value !== null) found[end][column] = value;
    }
  }
  return found;
}

/** How columns are to be made coarser and which matter, of those that are known: they have an editor of their own. */
function ofKnown() {
  const of = (given) => Object.fromEntries(Object.entries(given).filter(([name]) => known.some((column) => column.name === name)));
  return { hierarchies: of(bench.now.protection.hierarchies), importance: of(bench.now.protection.importance) };
}

function asked() {
  const { aim, suppress, output: set } = bench.now.protection; // what the form has no place for stays
  const wanted = { method: method.value, aim, output: output.value === BY_COLUMN ? set : output.value || null, suppress: takes("suppress") ? suppress : null, ...ofKnown(), apart: chosen(apart), leave_out: chosen(leftOut) };
  if (wanted.apart.length && !takes("apart")) throw new Error("This method mixes people who were asked with those who were not. Choose the partition, or none of the columns that only some were asked.");
  if (takes("k")) wanted.k = Number(k.value);
  if (takes("resolution")) {
    const own = limits().parts, all = Number(resolution.value);
    wanted.resolution = Object.keys(own).length ? Object.fromEntries(known.map((column) => [column.name, own[column.name] ?? all])) : all;
  }
  if (takes("steps")) {
    const { steps, top, bottom } = limits();
    if (!steps.length && !Object.keys(top).length && !Object.keys(bottom).length) throw new Error("Say for at least one column what is to be done with it.");
    Object.assign(wanted, { steps, top, bottom });
  }
  if (takes("perturbation")) wanted.steps = askedSteps();
  for (const [name, field] of [["t", t], ["l", l]]) {
    if (!field.value.trim()) continue;
    if (!takes(name)) throw new Error(`This method makes no promise of ${name} = ${field.value.trim().slice(0, 20)}. Choose another method, or empty that field.`);
    if (!sensitive.value) throw new Error(`Choose the column that ${name} = ${field.value.trim().slice(0, 20)} is about (“Keep secret”), or empty that field.`);
  }
  if (takes("t") && sensitive.value) {
    wanted.sensitive = several.get(sensitive.value) ?? sensitive.value;
    const closeness = t.value.trim().toLowerCase() === "bound" ? "bound" : written(t.value);
    if (closeness !== null && closeness !== "bound" && !(closeness > 0 && closeness <= 1)) throw new Error("Closeness t is above 0 and at most 1, or the word bound.");
    if (closeness !== null) wanted.t = closeness;
    const different = takes("l") ? written(l.value) : null;
    if (different !== null && !(different >= 1)) throw new Error("The number of different values (l) is 1 or more.");
    if (different !== null) wanted.l = different;
  }
  wanted.diverse = (bench.now.protection.diverse ?? []).filter((name) => [wanted.sensitive ?? []].flat().includes(name)); // of what is not kept secret nothing is demanded
  const covered = takes("k_map") ? written(kMap.value) : null;
  if (covered !== null && !(Number.isInteger(covered) && covered >= 1)) throw new Error("The people of the population who fit (k-map) are a whole number of 1 or more.");
  if (covered !== null && !everybody.value && bench.now.population === null) throw new Error("Say how many people the population has (above, under “Who is to get it?”), or choose a table of everybody to count them in.");
  if (covered !== null) Object.assign(wanted, { k_map: covered, population_table: everybody.value || null });
  return wanted;
}

/** What a choice removes where it does not ask for it; what the form has no place for stays as it is. */
const EMPTIED = { resolution: null, steps: null, top: null, bottom: null, sensitive: null, t: null, l: null, k_map: null, population_table: null, suppress: null, aim: null, output: null };
/** Keep the settings, protect by them, and lead whoever asked to the result. */
export async function protect(wanted = null) {
  noProblem();
  if (wrongField() || !(await allKept())) return;
  untouched = false;
  if (wanted) await keep({ protection: { ...EMPTIED, ...(wanted.l ? {} : { diversity: null, c: null }), ...wanted } });
  await start(`/tables/${table}/protections`, {});
  look("candidates");
  document.dispatchEvent(new CustomEvent("protecting"));
}
form.addEventListener("submit", async (event) => { event.preventDefault(); try { await protect(asked()); } catch (error) { problem(error); } });
form.addEventListener("input", (event) => { if (event.target === sensitive || event.target === l) suggested.hidden = true; fits(); });

/** Protect in every way; the class size in the form is among those that are compared. */
export async function compare() {
  if (!(await allKept())) return;
  const sizes = [3, 5, classSize(), 2 * classSize(), ...(takes("k") ? [Number(k.value)] : [])];
  const sensible = [...new Set(sizes)].filter((size) => size >= 2 && size <= Math.max(2, bench.about.rows / 2)).sort((a, b) => a - b);
  const secret = several.get(sensitive.value) ?? (sensitive.value || null), { hierarchies, importance } = ofKnown(), demands = { hierarchies, importance, apart: chosen(apart), leave_out: chosen(leftOut), l: secret ? written(l.value) : null };
  await start(`/tables/${table}/frontiers`, { sensitive: secret, k: sensible, protection: demands });
  look("candidates");
  document.dispatchEvent(new CustomEvent("comparing"));
}
/** The least protection that the verdict accepts and that has what the form demands; what is only suggested there is no demand. */
export async function solve() {
  noProblem();
  if (wrongField() || !(await allKept())) return;
  const protection = asked();
  if (!suggested.hidden) { delete protection.sensitive; delete protection.l; }
  untouched = false;
  sessionStorage.setItem(SOLVING, (await start(`/tables/${table}/solutions`, { seconds: 120, protection })).id);
  look("candidates");
  document.dispatchEvent(new CustomEvent("protecting"));
}
/** What was found becomes what the form asks for, unless it asks for something else by now. */
document.addEventListener("protected", async (event) => {
  if (event.detail !== sessionStorage.getItem(SOLVING)) return;
  sessionStorage.removeItem(SOLVING);
  try {
    const [job, { protection }] = await Promise.all([api("GET", `/jobs/${event.detail}`), api("GET", `/jobs/${event.detail}/result`)]);
    if (!job.stale) await keep({ protection });
  } catch (error) { problem(error); }
});
more.addEventListener("toggle", () => { if (more.open) fillTables([everybody]).catch(problem); });
document.getElementById("solve").addEventListener("click", () => solve().catch(problem));
document.getElementById("compare").addEventListener("click", () => compare().catch(problem));

/** The lists of columns as the roles are now; what is chosen in them stays. */
function fillLists() {
  const of = (role) => bench.columns.filter((column) => bench.now.roles[column.name] === role), kept = sensitive.value;
  known = of("quasi-identifier");
  const secrets = of("sensitive").map(({ name }) => name);
  sensitive.replaceChildren(make("option", { value: "" }, "no column"), ...secrets.map((name) => make("option", { value: name }, short(name))));
  if (secrets.length > 1) sensitive.append(make("option", { value: asOne(secrets) }, `all ${secrets.length} of them`));
  if (suggested.hidden) choose(sensitive, kept, namesOf(kept)); // what was only suggested is suggested anew
  drawKept(chosen(apart), chosen(leftOut));
  delete columns.dataset.method;
}

/** The columns that are passed on as they are, to be kept apart by or left out; first those that not everybody has a value of. */
function drawKept(keptApart, gone) {
  const kept = bench.columns.filter(({ name }) => ["sensitive", "other", "weight"].includes(bench.now.roles[name])).sort((a, b) => (b.nulls > 0) - (a.nulls > 0)).map(({ name }) => name);
  drawChips(apart, kept, keptApart);
  drawChips(leftOut, kept, gone);
}

/** What is kept secret, as the settings have it. */
function fillSecrets() {
  const names = [bench.now.protection.sensitive ?? []].flat(), value = names.length > 1 ? asOne(names) : names[0] ?? "";
  choose(sensitive, value, namesOf(value));
}

/** The form as the settings have it. */
function fill() {
  const kept = bench.now.protection;
  choose(method, kept.method);
  k.max = String(Math.max(50, kept.k));
  k.value = String(kept.k);
  if (typeof kept.resolution === "number") choose(resolution, String(kept.resolution));
  fillSecrets();
  l.value = kept.l ?? "";
  t.value = kept.t ?? "";
  kMap.value = kept.k_map ?? "";
  if (typeof (kept.output ?? "") === "string") choose(output, kept.output ?? "");
  else choose(output, BY_COLUMN, "by column, as a script has set it");
  choose(everybody, kept.population_table ?? "", "another table");
  suggested.hidden = true;
  drawKept(kept.apart, kept.leave_out);
  if (kept.method !== "partition" || kept.output || kept.t || kept.k_map || kept.apart.length || kept.leave_out.length) more.open = true; // what is asked for is in sight
  delete columns.dataset.method;
}

/** Where nobody has protected yet: what the recipient asks, and every secret kept, as the assessment advises. */
function suggest() {
  if (bench.now.protection.k === 5) {
    k.max = String(Math.max(50, classSize()));
    k.value = String(classSize());
  }
  const secrets = bench.columns.filter((column) => bench.now.roles[column.name] === "sensitive");
  if (suggested.hidden && (sensitive.value || !secrets.length)) return; // somebody chose, or there is nothing to suggest
  suggested.hidden = !secrets.length;
  sensitive.value = !secrets.length ? "" : secrets.length > 1 ? asOne(secrets.map(({ name }) => name)) : secrets[0].name;
  l.value = secrets.length && secrets.every(({ distinct }) => distinct === null || distinct > 1) ? "2" : "";
  if (!secrets.length) return;
  suggested.textContent = `Suggested, for ${secrets.length > 1 ? `${secrets.length} columns are` : `${short(secrets[0].name)} is`} marked as secret: otherwise everybody who looks alike may have the same value.`;
}

/** What was typed and not yet used stays, unless the settings it is about have changed. */
function follow() {
  const roles = JSON.stringify(bench.columns.map((column) => bench.now.roles[column.name])), kept = JSON.stringify({ ...bench.now.protection, hierarchies: null, importance: null, sensitive: null, diverse: null }); // those have an editor of their own, or follow the roles
  const secrets = JSON.stringify(bench.now.protection.sensitive), had = sensitive.options.length > 1;
  const asks = `${bench.now.recipient} ${bench.now.highest}`;
  if (roles !== listed) fillLists();
  if (kept !== filled) fill();
  else if (secrets !== keptSecret) fillSecrets();
  if ((untouched || !had) && (roles !== listed || kept !== filled || asks !== form.dataset.asks)) suggest();
  [listed, filled, keptSecret, form.dataset.asks] = [roles, kept, secrets, asks];
  fits();
}
on("settings", follow);

/** `protectedBefore`: then nothing is suggested, the form is as it was left. */
export function ready(protectedBefore) {
  untouched = !protectedBefore;
  if (protectedBefore) { fill(); fits(); }
  form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
}
/** Ask for classes of this size: the form says so, nothing is protected yet. */
export function setSize(size) {
  k.value = String(size);
  fits();
  say(`The form asks for classes of ${size}.`);
}
