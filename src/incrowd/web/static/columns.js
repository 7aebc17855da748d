// The columns as a table: two toggles for each, keys that answer both questions and go on, families that are answered together.
import { addedRisk } from "./added-risk.js";
import { announce, count, debounced, make, shorten, updateElement } from "./app.js";
import { bench, changeSettings, onChange } from "./bench.js";
import { drawer, inspect } from "./inspector.js";
import { ROLES, answersOf, assignRole, confirmRoles, families, reasonInWords, roleOf, undecided, withReason } from "./roles.js";

const list = document.getElementById("columns"), search = document.getElementById("search"), onlyOpen = document.getElementById("only-open");
const progress = document.getElementById("decided"), confirmAll = document.getElementById("confirm-all");
const halves = new Map(); // answers to one of the two questions, by column: both make a decision
const unfolded = new Set(); // families that are shown column by column
let rows = [], focused = null, opened = null;

const keyOf = (members) => (members.length > 1 ? `${members[0].name} …` : members[0].name);
const rowOf = (key) => (key === null ? null : list.querySelector(`tr[data-column="${CSS.escape(key)}"]`));
const isDecided = (members) => members.every(({ name }) => bench.settings.decided.includes(name));
const namesOf = (members) => members.map(({ name }) => name);

/** What is shown of one question: the answer, a suggestion, or that nobody knows. */
function answerOf([column, ...others], question) {
  const half = others.length ? undefined : halves.get(column.name)?.[question], said = answersOf(bench.settings.roles[column.name]);
  if (half !== undefined) return { yes: half, sure: true };
  if (isDecided([column, ...others])) return { yes: said[question], sure: true };
  return { yes: withReason([column], bench.settings).length ? said[question] : null, sure: false };
}

function toggle(members, question) {
  const { yes, sure } = answerOf(members, question), words = yes === null ? "?" : yes ? "yes" : "no", name = shorten(members[0].name, 40);
  const what = question === "known" ? "can outsiders know it" : "would it harm";
  return make("button", { type: "button", class: `answer${sure ? "" : " open"}`, "data-question": question, tabindex: "-1", "aria-pressed": sure ? String(yes) : null, "aria-label": `${name}, ${what}: ${sure ? words : yes === null ? "not answered" : `${words}, only suggested`}`, onclick: (event) => { event.stopPropagation(); answerOne(members, question); } }, sure || yes === null ? words : `${words}?`);
}

/** The people who stand out by a column, alone and with others; what is not passed on has none. */
function standOut(members) {
  const found = members.map(({ name }) => addedRisk.get(name)).filter(Boolean).sort((a, b) => b.together - a.together)[0];
  if (!found) return "";
  const others = found.others.map((name) => shorten(name, 16)).join(" and ");
  return [make("span", { class: "alone" }, `${count(found.alone)} alone`), others ? make("small", { class: "soft" }, ` ${count(found.together)} with ${others}`) : ""];
}

function rowElement(members) {
  const [column] = members, key = keyOf(members), role = bench.settings.roles[column.name], isOpen = !isDecided(members), questioned = answersOf(role);
  const folded = members.length > 1 ? make("small", { class: "soft" }, ` ${count(members.length)} columns, ${shorten(members[0].name, 20)} to ${shorten(members.at(-1).name, 20)}`) : null;
  const title = members.length > 1 ? column.name.replace(/\d+(?=\D*$)/, "*") : column.name;
  const cells = questioned
    ? [make("td", {}, toggle(members, "known")), make("td", { class: "number wide" }, standOut(members)), make("td", {}, toggle(members, "sensitive"))]
    : [make("td", { colspan: "3", class: "soft" }, `${ROLES.find((one) => one.role === role).short}${isOpen ? "? Not confirmed" : ""}`)];
  return make("tr", { class: `column${key === opened ? " on" : ""}`, "data-column": key, "data-role": role, "data-decided": isOpen ? "no" : "yes", tabindex: key === focused ? "0" : "-1", title: members.length > 1 ? null : reasonInWords(column, bench.settings) },
    make("th", { scope: "row" }, make("bdi", { class: "name" }, shorten(title, 40)), folded), cells);
}

/** The rows to show: families are one row, unless they are unfolded. */
function shownRows() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name, type, reason }) => words.every((word) => `${name} ${type} ${reason}`.toLowerCase().includes(word));
  const shown = bench.columns.filter((column) => fits(column) && (!onlyOpen.checked || !bench.settings.decided.includes(column.name)));
  return families(shown, bench.settings).flatMap((members) => (members.length > 1 && unfolded.has(keyOf(members)) ? members.map((one) => [one]) : [members]));
}

function draw() {
  if (onlyOpen.checked && !undecided(bench.columns, bench.settings).length) onlyOpen.checked = false; // the last one is decided
  rows = shownRows();
  const keys = rows.map(keyOf), had = list.contains(document.activeElement) && document.activeElement.matches("tr.column");
  if (!keys.includes(focused)) focused = keys[0] ?? null;
  for (const line of [...list.querySelectorAll("tr.column")]) if (!keys.includes(line.dataset.column)) line.remove();
  let before = null;
  for (const members of rows) {
    const fresh = rowElement(members), old = rowOf(keyOf(members)), row = old ?? fresh;
    if (old) updateElement(old, fresh);
    const place = before ? before.nextElementSibling : list.firstElementChild;
    if (place !== row) list.insertBefore(row, place);
    before = row;
    if (keyOf(members) === opened) { if (row.nextElementSibling !== drawer) row.after(drawer); before = drawer; }
  }
  if (!keys.includes(opened)) drawer.remove();
  if (had) rowOf(focused)?.focus({ preventScroll: true });
  const open = undecided(bench.columns, bench.settings).length, sure = withReason(bench.columns, bench.settings).length;
  progress.textContent = `${count(bench.columns.length - open)} of ${count(bench.columns.length)} answered`;
  confirmAll.hidden = !sure;
  confirmAll.textContent = sure < open ? `Confirm the ${count(sure)} that are suggested` : "Confirm all";
  list.closest("table").style.setProperty("--rows", String(Math.max(11, rows.length)));
  list.removeAttribute("aria-busy");
}

/** Give the columns of a row a role, both questions at once. */
function giveRole(members, role) {
  const names = namesOf(members), made = assignRole(bench.columns, bench.settings, names, role);
  if (made === null) return;
  for (const name of names) halves.delete(name);
  changeSettings(made.changes, made.kept);
  announce(`${names.length > 1 ? `${count(names.length)} columns` : shorten(names[0])}: ${ROLES.find((one) => one.role === role).words}.`);
}

/** Answer one question; with the answer to the other one the column is decided. */
function answerOne(members, question) {
  const [{ name }] = members, other = question === "known" ? "sensitive" : "known", now = answerOf(members, question), yes = now.sure ? !now.yes : now.yes ?? true;
  const rest = answerOf(members, other);
  if (members.length > 1 || rest.sure) { giveRole(members, roleOf({ [question]: yes, [other]: Boolean(rest.yes) })); return; }
  halves.set(name, { ...halves.get(name), [question]: yes });
  announce(`${shorten(name)}: ${question}, ${yes ? "yes" : "no"}. The other question is open.`);
  draw();
}

/** Confirm the suggestions that have a reason; the other columns stay undecided. */
function confirmColumns(names) {
  const made = confirmRoles(bench.columns, bench.settings, names), confirmed = made?.kept.decided ?? [];
  const left = names.filter((name) => !bench.settings.decided.includes(name)).length - confirmed.length;
  if (made) changeSettings(made.changes, made.kept);
  const words = confirmed.length ? `${confirmed.length > 1 ? `${count(confirmed.length)} columns` : shorten(confirmed[0])} confirmed. ` : "";
  if (words || left) announce(`${words}${left ? `Nothing is suggested for ${left > 1 ? `${count(left)} columns` : "one column"}: answer.` : ""}`.trim());
  return left === 0;
}

function focusRow(key) {
  if (key === undefined) return;
  focused = key;
  for (const line of list.querySelectorAll("tr.column")) line.tabIndex = line.dataset.column === key ? 0 : -1;
  const line = rowOf(key);
  line?.focus({ preventScroll: true });
  line?.scrollIntoView({ block: "nearest" });
}
const keyAt = (key, by) => { const keys = rows.map(keyOf); return keys[Math.max(0, Math.min(keys.length - 1, keys.indexOf(key) + by))]; };

/** Open the drawer of a row, or unfold its family. */
function open(members) {
  const key = keyOf(members);
  if (members.length > 1) { unfolded.add(key); draw(); focusRow(members[0].name); return; }
  opened = opened === key ? null : key;
  draw();
  if (opened) inspect(members[0], (role) => giveRole(members, role));
}
const membersOf = (key) => rows.find((members) => keyOf(members) === key);

list.addEventListener("click", (event) => {
  const line = event.target.closest("tr.column");
  if (!line) return;
  focusRow(line.dataset.column);
  open(membersOf(line.dataset.column));
});
list.addEventListener("keydown", (event) => {
  const line = event.target.closest("tr.column");
  if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = line.dataset.column, members = membersOf(key), role = ROLES.find((one) => one.key === event.key.toLowerCase()), next = keyAt(key, 1);
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e6, End: 1e6 }[event.key];
  if (step) focusRow(keyAt(key, step));
  else if (event.key === "Enter" && event.target === line) { if (confirmColumns(namesOf(members))) focusRow(next); }
  else if (event.key === " " && event.target === line) open(members);
  else if (event.key === "/") search.focus();
  else if (role) { giveRole(members, role.role); focusRow(next); }
  else return;
  event.preventDefault();
});
confirmAll.addEventListener("click", () => {
  const left = undecided(bench.columns, bench.settings).length - withReason(bench.columns, bench.settings).length;
  confirmColumns(undecided(bench.columns, bench.settings));
  if (left) showUndecided();
});
search.addEventListener("input", debounced(draw, 80));
search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown" && rows.length) { event.preventDefault(); focusRow(keyOf(rows[0])); } });
onlyOpen.addEventListener("change", draw);
document.addEventListener("added-risk", draw);
document.addEventListener("settings-restored", () => halves.clear());
onChange("settings", draw);

/** List what is not answered, and focus the first. */
export function showUndecided() {
  onlyOpen.checked = true;
  search.value = "";
  draw();
  if (rows.length) focusRow(keyOf(rows[0]));
}
