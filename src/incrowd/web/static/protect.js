// Protecting a table: by hand, or by a point of the comparison of all methods.
import { answersOf, data, newest, reach } from "./answers.js";
import { api, make, noProblem, problem, resume, save, say, settings, short, start, table, written } from "./app.js";
import { protectedTable } from "./protected.js";

const view = document.getElementById("view"), compared = document.getElementById("frontier-view");
const form = document.getElementById("protection"), nothing = document.getElementById("nothing");
const method = document.getElementById("method"), k = document.getElementById("k"), t = document.getElementById("t"), l = document.getElementById("l");
const resolution = document.getElementById("resolution"), sensitive = document.getElementById("sensitive");
const columns = document.getElementById("columns");
const PARTS = [["", "as above"], ["64", "64 parts"], ["32", "32 parts"], ["16", "16 parts"], ["8", "8 parts"], ["4", "4 parts"], ["2", "2 parts"]];
const ACTIONS = [
  ["", "leave as it is"], ["ranges=20", "20 ranges"], ["ranges=10", "10 ranges"], ["ranges=5", "5 ranges"],
  ["keep=3", "keep 3 letters"], ["keep=2", "keep 2 letters"], ["keep=1", "keep 1 letter"], ["*", "hide it"],
];
const SIZES = form.dataset.sizes.split(",").filter(Boolean).map(Number); // compared anyway: what the recipient asks is among them
const beneath = document.getElementById("beneath"), suggested = document.getElementById("suggested");
let about = null, known = [], now = null, pressed = null;

const FORM = { k: ["k"], resolution: ["resolution"], columns: ["resolution", "steps"] }; // parts of the form and the inputs they serve

/** Whether the chosen method has a use for an input. */
function takes(input) { return method.selectedOptions[0].dataset.inputs.split(" ").includes(input); }

function fits() {
  document.getElementById("k-said").textContent = k.value;
  document.getElementById("k-help").textContent = k.value === "2" ? "Everybody looks like at least one other." : `Everybody looks like at least ${Number(k.value) - 1} others.`;
  document.getElementById("method-help").textContent = method.selectedOptions[0].dataset.help;
  form.querySelectorAll(".for-t").forEach((one) => { one.hidden = !takes("t") && !t.value && !l.value; }); // what is asked for stays in sight
  for (const [what, inputs] of Object.entries(FORM)) form.querySelectorAll(".for-" + what).forEach((one) => { one.hidden = !inputs.some(takes); });
  if (FORM.columns.some(takes) && columns.dataset.method !== method.value) drawColumns();
}

/** Choose in a list, also what a script has set and the list does not offer. */
function choose(list, value, words = value) {
  if (![...list.options].some((one) => one.value === value)) list.append(make("option", { value }, words));
  list.value = value;
}

/** What single columns may be told: their own number of parts, or what is done to those who stand out, in that order. */
function drawColumns() {
  columns.dataset.method = method.value;
  const byHand = takes("steps"), kept = now.protection, mine = kept.method === method.value;
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

function asked() {
  const { aim, suppress } = now.protection; // what the form has no place for stays
  const wanted = { method: method.value, aim, suppress: takes("suppress") ? suppress : null };
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
  for (const [name, field] of [["t", t], ["l", l]]) {
    if (!field.value.trim()) continue;
    if (!takes(name)) throw new Error(`This method makes no promise of ${name} = ${field.value.trim().slice(0, 20)}. Choose another method, or empty that field.`);
    if (!sensitive.value) throw new Error(`Choose the column that ${name} = ${field.value.trim().slice(0, 20)} is about (“Keep secret”), or empty that field.`);
  }
  if (takes("t") && sensitive.value) {
    wanted.sensitive = sensitive.value;
    const closeness = t.value.trim().toLowerCase() === "bound" ? "bound" : written(t.value);
    if (closeness !== null && closeness !== "bound" && !(closeness > 0 && closeness <= 1)) throw new Error("Closeness t is above 0 and at most 1, or the word bound.");
    if (closeness !== null) wanted.t = closeness;
    const different = takes("l") ? written(l.value) : null;
    if (different !== null && !(different >= 1)) throw new Error("The number of different values (l) is 1 or more.");
    if (different !== null) wanted.l = different;
  }
  return wanted;
}

async function protect(wanted) {
  noProblem();
  now = await save({ protection: wanted });
  fill();
  pressed = "protection";
  await start(`/tables/${table}/protections`, { protection: now.protection });
  nothing.hidden = true;
  view.scrollIntoView({ block: "nearest" });
}

form.addEventListener("submit", async (event) => { event.preventDefault(); try { await protect(asked()); } catch (error) { problem(error); } });
form.addEventListener("input", fits);
function compare() {
  nothing.hidden = true;
  pressed = "frontier";
  const wanted = Number(k.value), more = takes("k") && !SIZES.includes(wanted);
  const sizes = [...SIZES, wanted].filter((size) => size <= about.rows).sort((a, b) => a - b);
  start(`/tables/${table}/frontiers`, { sensitive: sensitive.value || null, k: more ? sizes : null }).catch(problem);
}
document.getElementById("compare").addEventListener("click", compare);
/** Whoever asked for it is led to it; after a reload nobody is moved. */
function arrived(kind, title) {
  if (pressed !== kind) return;
  pressed = null;
  reach(title);
}
const protectedAgain = answersOf("protection", view, { again: () => form.requestSubmit(), shown: () => {
  beneath.replaceChildren(view.querySelector(".beneath")); // the comparison of the methods stands above the details
  arrived("protection", view.querySelector(".verdict h2"));
} });
const comparedAgain = answersOf("frontier", compared, { again: compare, shown: () => arrived("frontier", compared.querySelector("h2")) });
protectedTable(view, "risk", async () => { now = await settings(); await protect(now.protection); });

/** A point of the comparison becomes the choice, and is applied. */
function take(index) {
  const point = data(compared, "result").points[index];
  say(`Applying ${point.words}, ${point.setting}.`);
  const able = [...method.options].find((one) => one.value === point.protection.method)?.dataset.inputs.split(" ") ?? [];
  const different = written(l.value); // what was asked for beside the comparison is asked for still
  if (different && !able.includes("l")) return problem(new Error(`${point.words} makes no promise of l = ${different}, which was asked for. Empty that field first.`));
  const secret = point.protection.sensitive ?? (sensitive.value || null);
  return protect(different ? { ...point.protection, sensitive: secret, l: different } : point.protection).catch(problem);
}
document.addEventListener("drawn", (event) => {
  if (event.target.id !== "figure-frontier") return;
  event.target.dataset.clickable = "yes";
  event.detail.addEventListener("click", (_, item) => { if (Number.isInteger(item?.datum?.order)) take(item.datum.order); });
});
compared.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-point]");
  if (button) take(Number(button.dataset.point));
  if (event.target.closest("button.renew")) compare();
});

/** The form as the settings have it. */
function fill() {
  const kept = now.protection, of = (role) => about.columns.filter((column) => now.roles[column.name] === role);
  known = of("quasi-identifier");
  sensitive.replaceChildren(make("option", { value: "" }, "no column"), ...of("sensitive").map(({ name }) => make("option", { value: name }, short(name))));
  choose(method, kept.method);
  k.max = String(Math.max(50, kept.k));
  k.value = String(kept.k);
  if (typeof kept.resolution === "number") choose(resolution, String(kept.resolution));
  choose(sensitive, kept.sensitive ?? "", short(kept.sensitive ?? ""));
  l.value = kept.l ?? "";
  t.value = kept.t ?? "";
  suggested.hidden = true;
  delete columns.dataset.method;
  fits();
}

/** Where one column is marked as secret and nobody has protected yet, it is kept secret, as Risk advises. */
function suggest() {
  if (now.protection.k === 5) { // as at first: what the recipient asks
    k.max = String(Math.max(50, Number(form.dataset.classSize)));
    k.value = form.dataset.classSize;
    fits();
  }
  const secrets = about.columns.filter((column) => now.roles[column.name] === "sensitive");
  if (secrets.length !== 1 || sensitive.value) return;
  choose(sensitive, secrets[0].name, short(secrets[0].name));
  if (secrets[0].distinct === null || secrets[0].distinct > 1) l.value = "2";
  suggested.textContent = `Suggested, for ${short(secrets[0].name)} is marked as secret: otherwise everybody who looks alike may have the same value.`;
  suggested.hidden = false;
}
document.addEventListener("stepped", (event) => { now = event.detail; fill(); protectedAgain(); comparedAgain(); });

try {
  [about, now] = await Promise.all([api("GET", `/tables/${table}`), settings()]);
  fill();
  const jobs = await resume();
  if (!newest(jobs, "protection")) suggest();
  form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
  nothing.hidden = Boolean(newest(jobs, "protection") || newest(jobs, "frontier"));
} catch (error) { problem(error); }
