// The columns as a list to work through: search, filter, select several, give them a role with one key.
import { bench, on, put } from "./bench.js";
import { count, make, patch, say, settled, short } from "./app.js";
import { adds } from "./adds.js";
import { inspect } from "./inspector.js";
import { ROLES, assignRole, confirmRoles, undecided, withReason } from "./roles.js";
import { filterCounts, neighbour, select, shownColumns } from "./triage.js";

const list = document.getElementById("columns"), search = document.getElementById("search"), filter = document.getElementById("filter"), order = document.getElementById("order");
const chosen = document.getElementById("chosen"), progress = document.getElementById("decided"), roleButtons = document.getElementById("role-buttons"), confirmAll = document.getElementById("confirm-all");
const SHORT = Object.fromEntries(ROLES.map(({ role, short: word }) => [role, word]));
let state = { selected: new Set(), anchor: null }, focused = null, names = [];

/** One line: its role as a colour and a word, and whether a person decided it. */
function row(column) {
  const role = bench.now.roles[column.name], decided = bench.now.decided.includes(column.name);
  const added = adds.get(column.name)?.added_uniques, known = role === "quasi-identifier";
  return make("li", {
    role: "option", class: "column", "data-column": column.name, "data-role": role, "data-decided": decided ? "yes" : "no",
    "aria-selected": String(state.selected.has(column.name)), tabindex: column.name === focused ? "0" : "-1",
    title: `${short(column.name, 200)}: ${column.type}${column.distinct === null ? "" : `, ${count(column.distinct)} distinct`}. ${decided ? "As you said." : `Only suggested: ${column.reason}.`}`,
  }, make("i", { class: "tick", "aria-hidden": "true" }), make("bdi", { class: "name" }, short(column.name, 40)),
  added ? make("small", { class: "adds", title: known ? `${count(added)} people are alone because it is known` : `${count(added)} more people would be alone if it were known` }, `+${count(added)}`) : null,
  make("span", { class: "role" }, SHORT[role], decided ? null : make("span", { class: "hidden" }, ", only suggested")));
}

function draw() {
  const shown = shownColumns(bench.columns, bench.now, { search: search.value, filter: filter.value, order: order.value, adds });
  names = shown.map((column) => column.name);
  state.selected = new Set([...state.selected].filter((name) => names.includes(name)));
  if (!names.includes(focused)) focused = names[0] ?? null;
  const had = list.contains(document.activeElement);
  patch(list, shown.length ? shown.map(row) : [make("li", { class: "soft none", role: "presentation" }, "No column is like that.")]);
  if (had) lineOf(focused)?.focus({ preventScroll: true });
  const open = undecided(bench.columns, bench.now).length, all = bench.columns.length;
  const alone = open - withReason(bench.columns, bench.now).length, openHere = withReason(shown, bench.now).length;
  progress.replaceChildren(`${count(all - open)} of ${count(all)} decided`, alone ? make("span", {}, `, ${count(alone)} without a suggestion`) : "");
  progress.title = progress.textContent;
  confirmAll.hidden = !openHere;
  confirmAll.textContent = openHere < open ? `Confirm ${count(openHere)}` : "Confirm all"; // nothing is confirmed unseen, or without a reason
  const counts = filterCounts(bench.columns, bench.now, ROLES.map(({ role }) => role));
  for (const choice of filter.options) choice.textContent = `${choice.dataset.words} (${count(counts[choice.value])})`;
  drawChosen();
  list.removeAttribute("aria-busy");
}

const lineOf = (name) => (name === null ? null : list.querySelector(`[data-column="${CSS.escape(name)}"]`));
/** The columns that a key or a button is about: those selected, or the one in focus. */
const meant = () => (state.selected.size ? names.filter((name) => state.selected.has(name)) : focused === null ? [] : [focused]);

function drawChosen() {
  const several = meant();
  chosen.textContent = several.length > 1 ? `${count(several.length)} columns selected` : several.length ? short(several[0], 30) : "No column";
  for (const button of roleButtons.querySelectorAll("button[data-role]")) {
    button.setAttribute("aria-pressed", String(several.length > 0 && several.every((name) => bench.now.roles[name] === button.dataset.role && bench.now.decided.includes(name))));
    button.disabled = !several.length || (several.length > 1 && ["person", "weight"].includes(button.dataset.role));
  }
  const all = bench.columns.filter((column) => several.includes(column.name));
  inspect(all.length === 1 ? all[0] : null, all);
}

/** Give what is meant a role; where the filter then hides it, the next one is in focus. */
function give(role) {
  const several = meant(), made = assignRole(bench.columns, bench.now, several, role);
  if (!several.length || made === null) return;
  const place = names.indexOf(several.at(-1)), next = names.slice(place + 1).find((name) => !several.includes(name));
  const words = ROLES.find((one) => one.role === role).words;
  put(made.changes, made.kept);
  say(`${several.length > 1 ? `${count(several.length)} columns` : short(several[0])}: ${words}.`);
  if (filter.value !== "all" && next !== undefined && !names.includes(focused)) move(next, "one");
}

function confirm(which) {
  const open = which.filter((name) => !bench.now.decided.includes(name));
  if (!open.length) return;
  const made = confirmRoles(bench.now, open);
  put(made.changes, made.kept);
  say(open.length > 1 ? `${count(open.length)} columns confirmed.` : `${short(open[0])} confirmed.`);
}

function move(name, how) {
  if (name === undefined) return;
  state = select(state, names, name, how);
  focused = name;
  for (const line of list.querySelectorAll(".column")) {
    line.setAttribute("aria-selected", String(state.selected.has(line.dataset.column)));
    line.tabIndex = line.dataset.column === focused ? 0 : -1;
  }
  const line = lineOf(name);
  line.focus({ preventScroll: true });
  drawChosen(); // a long name makes the list shorter
  line.scrollIntoView({ block: "nearest" });
}

list.addEventListener("click", (event) => {
  const line = event.target.closest(".column");
  if (line) move(line.dataset.column, event.shiftKey ? "range" : event.ctrlKey || event.metaKey || event.target.matches(".tick") ? "toggle" : "one");
});
list.addEventListener("keydown", (event) => {
  const role = ROLES.find(({ key }) => key === event.key.toLowerCase());
  if (event.key === "a" && (event.ctrlKey || event.metaKey)) { state = { selected: new Set(names), anchor: names[0] }; draw(); }
  else if (event.ctrlKey || event.metaKey || event.altKey) return;
  else if (["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].includes(event.key)) move(neighbour(names, focused, event.key), event.shiftKey ? "range" : "one");
  else if (event.key === " ") move(focused, "toggle");
  else if (event.key === "Escape") { state = { selected: new Set(), anchor: null }; draw(); }
  else if (event.key === "Enter" || event.key === "y") confirm(meant());
  else if (role) give(role.role);
  else return;
  event.preventDefault();
});
roleButtons.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.role) give(button.dataset.role);
  else if (button?.matches(".confirm")) confirm(meant());
});
/** Confirm the suggestions in sight that have a reason; the columns for which there is none are shown, to be decided by somebody. */
function confirmSuggested() {
  const shown = bench.columns.filter(({ name }) => names.includes(name)), sure = withReason(shown, bench.now), left = undecided(shown, bench.now).length - sure.length;
  confirm(sure);
  if (!left) return;
  showUndecided();
  say(`${count(sure.length)} confirmed. ${left > 1 ? `${count(left)} columns remain` : "One column remains"}: nothing is suggested there, so decide one by one, or select several.`);
}
confirmAll.addEventListener("click", confirmSuggested);
search.addEventListener("input", settled(draw, 80));
search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown" && names.length) { event.preventDefault(); move(names[0], "one"); } });
for (const choice of [filter, order]) choice.addEventListener("change", draw);
document.addEventListener("adds", draw);
on("settings", draw);

/** Show the columns that nobody has judged, and put the first in focus. */
export function showUndecided() {
  filter.value = "undecided";
  search.value = "";
  draw();
  if (names.length) move(names[0], "one");
  else filter.value = "all", draw();
}
