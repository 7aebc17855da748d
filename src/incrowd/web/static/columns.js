// The list of columns: search, filter, selection, and a key or a button for each role.
import { bench, changeSettings, onChange } from "./bench.js";
import { announce, count, debounced, make, patch, shorten } from "./app.js";
import { addedRisk } from "./added-risk.js";
import { inspect } from "./inspector.js";
import { ROLES, assignRole, confirmRoles, mayBeKnown, reasonInWords, roleInWords, undecided, withReason } from "./roles.js";
import { filterCounts, neighbour, select, shownColumns } from "./triage.js";

const list = document.getElementById("columns"), search = document.getElementById("search"), filter = document.getElementById("filter"), order = document.getElementById("order");
const selectAll = document.getElementById("select-all"), chosen = document.getElementById("chosen"), progress = document.getElementById("decided"), roleButtons = document.getElementById("role-buttons"), confirmAll = document.getElementById("confirm-all"), confirmButton = roleButtons.querySelector(".confirm");
let state = { selected: new Set(), anchor: null }, focused = null, names = [];

/** The people that a column makes unique: 0 is said too, and a column that is not counted says why. */
function addsElement({ name }) {
  const added = addedRisk.get(name)?.added_uniques, known = bench.settings.roles[name] === "quasi-identifier";
  if (added !== undefined) return make("small", { class: "adds", title: known ? `${count(added)} people are alone because it is known` : `${count(added)} more people would be alone if it were known` }, `+${count(added)}`);
  if (mayBeKnown(bench.columns, bench.settings).includes(name)) return null; // being counted
  return make("small", { class: "adds", title: "Not counted: it is not passed on as it is" }, "–");
}

/** The row of a column: its role, the people it makes unique, and whether its role is decided. */
function rowElement(column) {
  const role = bench.settings.roles[column.name], decided = bench.settings.decided.includes(column.name);
  return make("li", {
    role: "option", class: "column", "data-column": column.name, "data-role": role, "data-decided": decided ? "yes" : "no",
    "aria-selected": String(state.selected.has(column.name)), tabindex: column.name === focused ? "0" : "-1",
    title: `${shorten(column.name, 200)}: ${column.type}${column.distinct === null ? "" : `, ${count(column.distinct)} distinct`}. ${reasonInWords(column, bench.settings)}`,
  }, make("i", { class: "tick", "aria-hidden": "true" }), make("bdi", { class: "name" }, shorten(column.name, 40)),
  addsElement(column),
  make("span", { class: "role" }, ...roleInWords(column, bench.settings).map((words, index) => (index ? make("span", { class: "hidden" }, words) : words))));
}

function draw() {
  if (filter.value === "undecided" && !search.value && !undecided(bench.columns, bench.settings).length) filter.value = "all"; // the last one is decided
  const shown = shownColumns(bench.columns, bench.settings, { search: search.value, filter: filter.value, order: order.value, adds: addedRisk });
  names = shown.map((column) => column.name);
  state.selected = new Set([...state.selected].filter((name) => names.includes(name)));
  if (!names.includes(focused)) focused = names[0] ?? null;
  const had = list.contains(document.activeElement);
  patch(list, shown.length ? shown.map(rowElement) : [make("li", { class: "soft none", role: "presentation" }, "No column is like that.")]);
  if (had) rowOf(focused)?.focus({ preventScroll: true });
  const open = undecided(bench.columns, bench.settings).length, all = bench.columns.length;
  const alone = open - withReason(bench.columns, bench.settings).length, openHere = withReason(shown, bench.settings).length;
  progress.replaceChildren(`${count(all - open)} of ${count(all)} decided`, alone ? make("span", {}, `, ${count(alone)} without a suggestion`) : "");
  progress.title = progress.textContent;
  confirmAll.hidden = !openHere;
  confirmAll.textContent = openHere < open ? `Confirm ${count(openHere)}` : "Confirm all"; // only columns that are listed and have a reason
  const counts = filterCounts(bench.columns, bench.settings, ROLES.map(({ role }) => role));
  for (const choice of filter.options) choice.textContent = `${choice.dataset.words} (${count(counts[choice.value])})`;
  drawChosen();
  list.removeAttribute("aria-busy");
}

const areAllSelected = () => names.length > 0 && state.selected.size === names.length;
const rowOf = (name) => (name === null ? null : list.querySelector(`[data-column="${CSS.escape(name)}"]`));
/** The columns that a key or a button applies to: the selected ones, or the one in focus. */
const targetColumns = () => (state.selected.size ? names.filter((name) => state.selected.has(name)) : focused === null ? [] : [focused]);

function drawChosen() {
  selectAll.textContent = areAllSelected() ? "Select none" : "Select all shown";
  selectAll.setAttribute("aria-pressed", String(areAllSelected()));
  const several = targetColumns();
  chosen.textContent = several.length > 1 ? `${count(several.length)} columns selected` : several.length ? shorten(several[0], 30) : "No column";
  for (const button of roleButtons.querySelectorAll("button[data-role]")) {
    button.setAttribute("aria-pressed", String(several.length > 0 && several.every((name) => bench.settings.roles[name] === button.dataset.role && bench.settings.decided.includes(name))));
    button.disabled = !several.length || (several.length > 1 && ["person", "weight"].includes(button.dataset.role));
  }
  const all = bench.columns.filter((column) => several.includes(column.name));
  confirmButton.setAttribute("aria-disabled", String(!withReason(all, bench.settings).length)); // it keeps the focus
  inspect(all.length === 1 ? all[0] : null, all);
}

/** Give the target columns a role; if the filter then hides them, focus the next column. */
function giveRole(role) {
  const several = targetColumns(), made = assignRole(bench.columns, bench.settings, several, role);
  if (!several.length || made === null) return;
  const place = names.indexOf(several.at(-1)), next = names.slice(place + 1).find((name) => !several.includes(name));
  const words = ROLES.find((one) => one.role === role).words;
  changeSettings(made.changes, made.kept);
  announce(`${several.length > 1 ? `${count(several.length)} columns` : shorten(several[0])}: ${words}.`);
  if (filter.value !== "all" && next !== undefined && !names.includes(focused)) focusColumn(next, "one");
}

/** Confirm the suggestions that have a reason; the other columns stay undecided. */
function confirmColumns(which) {
  const made = confirmRoles(bench.columns, bench.settings, which), confirmed = made?.kept.decided ?? [];
  const left = which.filter((name) => !bench.settings.decided.includes(name)).length - confirmed.length;
  if (made) changeSettings(made.changes, made.kept);
  const words = confirmed.length > 1 ? `${count(confirmed.length)} columns confirmed. ` : confirmed.length ? `${shorten(confirmed[0])} confirmed. ` : "";
  if (words || left) announce(`${words}${left ? `Nothing is suggested for ${left > 1 ? `${count(left)} columns` : "one column"}: choose a role.` : ""}`.trim());
}

function focusColumn(name, how) {
  if (name === undefined) return;
  state = select(state, names, name, how);
  focused = name;
  for (const line of list.querySelectorAll(".column")) {
    line.setAttribute("aria-selected", String(state.selected.has(line.dataset.column)));
    line.tabIndex = line.dataset.column === focused ? 0 : -1;
  }
  const line = rowOf(name);
  line.focus({ preventScroll: true });
  drawChosen(); // this may change the height of the list
  line.scrollIntoView({ block: "nearest" });
}

list.addEventListener("click", (event) => {
  const line = event.target.closest(".column");
  if (line) focusColumn(line.dataset.column, event.shiftKey ? "range" : event.ctrlKey || event.metaKey ? "toggle" : event.target.matches(".tick") ? "tick" : "one");
});
list.addEventListener("keydown", (event) => {
  const role = ROLES.find(({ key }) => key === event.key.toLowerCase());
  if (event.key === "a" && (event.ctrlKey || event.metaKey)) { state = { selected: new Set(names), anchor: names[0] }; draw(); }
  else if (event.ctrlKey || event.metaKey || event.altKey) return;
  else if (["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].includes(event.key)) focusColumn(neighbour(names, focused, event.key), event.shiftKey ? "range" : "one");
  else if (event.key === " ") focusColumn(focused, "toggle");
  else if (event.key === "Escape") { state = { selected: new Set(), anchor: null }; draw(); }
  else if (event.key === "Enter" || event.key === "y") confirmColumns(targetColumns());
  else if (role) giveRole(role.role);
  else return;
  event.preventDefault();
});
selectAll.addEventListener("click", () => {
  const some = new Set(areAllSelected() ? [] : names);
  state = { selected: some, anchor: some.size ? names[0] : null };
  draw();
  rowOf(focused)?.focus({ preventScroll: true }); // so that the keys of the roles apply
  announce(some.size ? `${count(some.size)} columns selected.` : "No column is selected.");
});
roleButtons.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.role) giveRole(button.dataset.role);
  else if (button?.matches(".confirm")) confirmColumns(targetColumns());
});
/** Confirm the listed suggestions that have a reason; then list the columns without one, which a person must decide. */
function confirmSuggested() {
  const shown = bench.columns.filter(({ name }) => names.includes(name)), sure = withReason(shown, bench.settings), left = undecided(shown, bench.settings).length - sure.length;
  confirmColumns(sure);
  if (!left) return;
  showUndecided();
  announce(`${count(sure.length)} confirmed. ${left > 1 ? `${count(left)} columns remain` : "One column remains"}: nothing is suggested there, so decide one by one, or select several.`);
}
confirmAll.addEventListener("click", confirmSuggested);
search.addEventListener("input", debounced(draw, 80));
search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown" && names.length) { event.preventDefault(); focusColumn(names[0], "one"); } });
for (const choice of [filter, order]) choice.addEventListener("change", draw);
document.addEventListener("added-risk", draw);
onChange("settings", draw);

/** List the undecided columns and focus the first. */
export function showUndecided() {
  filter.value = "undecided";
  search.value = "";
  draw();
  if (names.length) focusColumn(names[0], "one");
}
