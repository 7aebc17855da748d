// What the columns are: lanes to drag columns between, a list in each for the keyboard, and live numbers.
import { api, count, make, percent, problem, resume, save, sentence, settings, settled, short, table, written } from "./app.js";

const ROLES = [
  ["quasi-identifier", "Others may know it", "Quasi-identifiers: age, place, dates… what a neighbour, a colleague or another file knows."],
  ["sensitive", "Secret", "What people keep to themselves, and what must not be learned."],
  ["identifier", "Names the person", "Removed before anything is given away."],
  ["person", "Whose record it is", "Several records of one person belong together."],
  ["weight", "Sampling weight", "How many people a record stands for."],
  ["other", "None of these", "Not counted, but stays in the file."],
];
const lanes = document.getElementById("lanes");
const groups = document.getElementById("groups");
const live = document.getElementById("live");
const limits = Object.fromEntries([...document.querySelectorAll("input[name=recipient]")].map((one) => [one.value, { highest: Number(one.dataset.highest), average: Number(one.dataset.average) }]));
const secrets = document.getElementById("secrets"), rowsArePeople = document.getElementById("rows-are-people"), judged = document.getElementById("judged");
let people = 0, columns = [], now = null, dragged = null, asked = 0, saving = Promise.resolve(), refused = false;

const known = () => columns.filter((column) => now.roles[column.name] === "quasi-identifier").map((column) => column.name);

function card(column) {
  const role = now.roles[column.name];
  const choice = make("select", { "aria-label": `Role of ${short(column.name)}`,
    // keys pass through roles on their way: wait for the last
    onkeydown: (event) => { event.target.dataset.typed = "yes"; }, onpointerdown: (event) => { delete event.target.dataset.typed; },
    onchange: (event) => (event.target.dataset.typed ? typed : change)(column.name, event.target.value),
    onblur: (event) => { if (event.target.isConnected && event.target.value !== now.roles[column.name]) change(column.name, event.target.value); } },
    ROLES.map(([name, words]) => make("option", { value: name, selected: name === role }, words)));
  const missing = column.nulls ? ` · ${count(column.nulls)} missing` : "";
  const distinct = column.distinct === null ? "" : ` · ${count(column.distinct)} distinct`;
  return make("li", {
    class: "card", draggable: "true", "data-column": column.name,
    ondragstart: (event) => {
      dragged = column.name;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", short(column.name));
      event.currentTarget.classList.add("dragged");
    },
    ondragend: (event) => { dragged = null; event.currentTarget.classList.remove("dragged"); },
  }, make("b", {}, make("bdi", {}, short(column.name))), make("small", {}, column.type + distinct + missing),
  make("small", {}, now.decided.includes(column.name) ? "As you said" : `Only suggested: ${column.reason}`),
  make("div", { class: "judging" }, choice, now.decided.includes(column.name) ? null
    : make("button", { type: "button", class: "quiet confirm", "aria-label": `Confirm the role of ${short(column.name)}`, onclick: () => confirm([column.name]) }, "✓")));
}

/** Somebody has read the suggestions and found them right. */
function confirm(names) {
  put({ decided: [...new Set([...now.decided, ...names])] }, { decided: names });
}
document.getElementById("confirm-all").addEventListener("click", () => confirm(columns.map((column) => column.name)));

function drawJudged() {
  const open = columns.filter((column) => !now.decided.includes(column.name)).length;
  judged.hidden = !open;
  judged.querySelector("span").textContent = `${count(open)} of ${count(columns.length)} columns have only a suggested role. They count as known to an attacker, and there is no yes until each is confirmed or changed.`;
}

function lane([role, title, words]) {
  const mine = columns.filter((column) => now.roles[column.name] === role);
  return make("section", {
    class: role === "quasi-identifier" || mine.length > 3 ? "lane wide" : "lane", "data-role": role, "aria-labelledby": "lane-" + role,
    ondragover: (event) => { if (dragged !== null) { event.preventDefault(); event.currentTarget.classList.add("over"); } },
    ondragleave: (event) => { if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.classList.remove("over"); },
    ondrop: (event) => { event.preventDefault(); if (dragged !== null) change(dragged, role); },
  }, make("h2", { id: "lane-" + role }, `${title} `, make("small", {}, `(${mine.length})`)), make("p", {}, words), mine.length ? make("ul", {}, mine.map(card)) : null);
}

function draw() {
  const focused = document.activeElement?.closest?.(".card")?.dataset.column;
  lanes.replaceChildren(...ROLES.map(lane));
  lanes.removeAttribute("aria-busy");
  if (focused !== undefined) lanes.querySelector(`.card[data-column="${CSS.escape(focused)}"] select`)?.focus();
  drawGroups();
  drawJudged();
  rowsArePeople.checked = now.rows_are_people;
  if (document.activeElement !== secrets) secrets.value = (now.secrets || []).join("\n");
  for (const choice of document.querySelectorAll("input[name=recipient]")) choice.checked = choice.value === now.recipient;
  for (const [id, value] of [["population", now.population ? count(now.population) : ""], ["threshold", now.threshold ?? ""], ["highest", now.highest ?? ""], ["tolerate", now.tolerate ?? ""]]) {
    const field = document.getElementById(id);
    if (!field.hasAttribute("aria-invalid")) field.value = value; // what is wrong stays there to be mended
  }
}

function drawGroups() {
  const names = known();
  groups.replaceChildren(...Object.entries(now.groups || {}).map(([name, members], place) => make("fieldset", { class: "group" },
    make("legend", { class: "hidden" }, `Group ${name}`),
    make("div", { class: "row" },
      make("input", { value: name, "aria-label": "Name of the group", maxlength: "60", onchange: (event) => rename(name, event.target.value.trim()) }),
      make("output", { class: "soft small", "data-group": name }, members.length ? "" : "Choose what is known together."),
      make("button", { type: "button", class: "quiet", onclick: () => regroup((all) => delete all[name]) }, "Remove")),
    make("div", { class: "chips" }, names.map((column, number) => make("label", { class: "chip" },
      make("input", { type: "checkbox", id: `group-${place}-${number}`, checked: members.includes(column), onchange: (event) => regroup((all) => {
        all[name] = event.target.checked ? [...all[name], column] : all[name].filter((one) => one !== column);
      }) }), make("bdi", {}, short(column))))))));
}

/** Groups that have columns; one without is not kept until it has some. */
const filled = (all) => Object.fromEntries(Object.entries(all || {}).filter(([, members]) => members.length));

/** Take a change at once, and keep it; what is kept comes in the order of the clicks. */
function put(changes, kept = changes) {
  now = { ...now, ...changes };
  draw();
  countAgain();
  saving = saving.then(() => save(kept)).catch(async (error) => {
    refused = true;
    problem(error);
    now = await settings();
    draw();
    countAgain();
  });
}

function change(column, role) {
  if (now.roles[column] === role) { if (!now.decided.includes(column)) confirm([column]); return; }
  const alone = role === "person" || role === "weight"; // whoever had it before has it no more
  const displaced = alone ? Object.keys(now.roles).filter((other) => now.roles[other] === role) : [];
  const changed = Object.fromEntries([...displaced.map((other) => [other, "other"]), [column, role]]);
  const roles = Object.fromEntries([...Object.entries(now.roles), ...Object.entries(changed)]);
  const allowed = new Set(columns.map((one) => one.name).filter((name) => roles[name] === "quasi-identifier"));
  const groups = Object.fromEntries(Object.entries(now.groups || {}).map(([name, members]) => [name, members.filter((one) => allowed.has(one))]));
  const decided = [...now.decided.filter((name) => !displaced.includes(name) && name !== column), column]; // whoever was displaced is undecided
  put({ roles, groups, decided }, { roles: changed, groups: filled(groups), decided: [column] });
}

const typed = settled((column, role) => change(column, role), 700);

function regroup(edit) {
  const all = structuredClone(now.groups || {});
  edit(all);
  put({ groups: all }, { groups: filled(all) });
}

function rename(old, name) {
  if (!name || name === old || now.groups[name]) { drawGroups(); return; }
  const groups = Object.fromEntries(Object.entries(now.groups).map(([key, members]) => [key === old ? name : key, members]));
  put({ groups }, { groups: filled(groups) });
}

document.getElementById("add-group").addEventListener("click", () => regroup((all) => {
  let number = Object.keys(all).length + 1;
  while (all[`group ${number}`]) number += 1;
  all[`group ${number}`] = [];
}));

/** The numbers of the roles as they are now; answers that come late are left out. */
async function countAgain() {
  const mine = ++asked, names = known();
  if (!names.length) {
    live.replaceChildren(make("p", {}, "No column is marked as known to others, so nobody can be picked out by these. Is that so?"));
    return;
  }
  live.classList.add("fading");
  const person = columns.find((column) => now.roles[column.name] === "person")?.name ?? null;
  try {
    const found = await api("POST", `/tables/${table}/live`, { quasi_identifiers: names, groups: filled(now.groups), person });
    if (mine !== asked) return;
    showLive(found);
  } catch (error) {
    if (mine === asked) live.replaceChildren(make("p", { class: "problem" }, error.message));
  } finally {
    if (mine === asked) live.classList.remove("fading");
  }
}

function showLive(found) {
  people = found.people;
  const item = (name, value, words) => make("div", {}, make("dt", {}, name), make("dd", {}, make("strong", {}, value), make("span", {}, words)));
  const bound = now.highest ?? limits[now.recipient].highest, size = Math.ceil(1 / bound - 1e-6), risk = 1 / found.k;
  // with a population, or weights that stand for one, the threshold is held against the risk there: the Risk page has it
  const larger = (now.population ?? 0) > people || (!columns.some((one) => now.roles[one.name] === "person") && columns.some((one) => now.roles[one.name] === "weight"));
  const above = !larger && risk > bound * (1 + 1e-9);
  const words = larger ? "if it is known who is in the table; the Risk page tells the risk in the whole population" : above ? `above the 1/${size} accepted` : `1/${size} is accepted; the Risk page decides, by secrets and every column as well`;
  const said = larger ? `Highest risk within the table ${percent(risk)}` : `Highest risk within the table ${percent(risk)}, limit ${percent(bound)}`;
  const meter = make("div", { class: above ? "meter over" : "meter elsewhere", role: "img", "aria-label": said }, make("i"), larger ? null : make("b")); // never green: this is no decision
  meter.children[0].style.width = `${100 * risk}%`;
  if (!larger) meter.children[1].style.left = `${100 * bound}%`;
  live.replaceChildren(
    make("dl", { class: "cards" },
      item("smallest class (k)", count(found.k), found.k === 1 ? "somebody is alone" : "people look alike at least"),
      item("unique", percent(found.uniqueness), `${count(found.uniques)} of ${count(found.people)}`),
      item("person at highest risk", percent(risk), words),
      item("average risk within the table", percent(found.correctness), "of all people named correctly")),
    meter, make("p", { class: "sentence" }, found.sentence));
  for (const group of found.groups) {
    const place = groups.querySelector(`output[data-group="${CSS.escape(group.label)}"]`);
    if (place) place.textContent = `${percent(group.correctness)} named correctly, ${percent(group.uniqueness)} unique`;
  }
}

function right(input) {
  input.removeAttribute("aria-invalid");
  input.removeAttribute("aria-errormessage");
  document.getElementById(`${input.id}-wrong`).textContent = "";
}

/** A number that is kept as it is typed; returns a function that keeps it now, false where it cannot be. */
function field(id, key, check) {
  const input = document.getElementById(id), wrong = make("p", { class: "wrong small", id: `${id}-wrong`, role: "alert" });
  input.after(wrong);
  const keep = () => {
    try {
      const value = written(input.value);
      if (value !== null) check(value);
      right(input);
      if (value !== (now[key] ?? null)) put({ [key]: value });
      return true;
    } catch (error) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-errormessage", wrong.id);
      wrong.textContent = error.message; // where it is seen: the field may be far from the top
      return false;
    }
  };
  input.addEventListener("change", keep);
  return () => { const kept = keep(); if (!kept) input.focus(); return kept; };
}
const fields = [
  field("population", "population", (value) => {
    if (value < 1 || !Number.isInteger(value)) throw new Error("The population is a whole number of people, such as 3200000 or 3.2 million.");
    if (value < people) throw new Error(`The population is smaller than the table, which holds ${count(people)} people.`);
  }),
  ...["threshold", "highest", "tolerate"].map((name) => field(name, name, (value) => { if (!(value > 0 && value <= 1)) throw new Error("A limit is above 0 and at most 1, such as 0.05 or 5%."); })),
];
rowsArePeople.addEventListener("change", () => put({ rows_are_people: rowsArePeople.checked }));
secrets.addEventListener("change", () => put({ secrets: secrets.value.split("\n").map((line) => line.trim()).filter(Boolean) }));

/** A page is left once everything on it is kept, and not with a number that cannot be. */
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[href]");
  if (!link || now === null || link.hash || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  refused = false;
  if (!fields.every((keep) => keep())) return;
  await saving;
  if (!refused) location.href = link.href;
});
document.getElementById("question").addEventListener("submit", (event) => event.preventDefault());
for (const choice of document.querySelectorAll("input[name=recipient]")) choice.addEventListener("change", () => put({ recipient: choice.value }));
document.addEventListener("stepped", (event) => {
  document.querySelectorAll("[aria-invalid]").forEach(right);
  now = event.detail;
  draw();
  countAgain();
});

try {
  const [about, found] = await Promise.all([api("GET", `/tables/${table}`), settings()]);
  columns = about.columns;
  document.getElementById("notes").replaceChildren(...about.notes.map((note) => make("p", { class: "note" }, sentence(note))));
  now = found;
  draw();
  await countAgain();
  await resume();
  document.documentElement.dataset.settled = "yes";
} catch (error) { problem(error); }
