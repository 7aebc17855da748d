// The form of the question: recipient, population, limits, secrets, and groups of columns that are known together.
import { bench, changeSettings, knownColumns, onChange } from "./bench.js";
import { count, make, percent, shorten } from "./app.js";
import { parseNumber } from "./numbers.js";
import { filledGroups, withRole } from "./roles.js";
import { readSecretValues } from "./secret-values.js";

const recipient = document.getElementById("recipient"), help = document.getElementById("recipient-help"), groups = document.getElementById("groups");
const secrets = document.getElementById("secrets"), rowsArePeople = document.getElementById("rows-are-people");
const unknown = document.getElementById("population-unknown");
const drawnBy = ["strata", "cluster"].map((id) => document.getElementById(id));
const FIELDS = ["population", "threshold", "highest", "tolerate", "certain"];
export const limits = Object.fromEntries([...recipient.options].map((one) => [one.value, { highest: Number(one.dataset.highest), average: Number(one.dataset.average) }]));

function clearError(input) {
  input.removeAttribute("aria-invalid");
  input.removeAttribute("aria-errormessage");
  document.getElementById(`${input.id}-wrong`).textContent = "";
}

function showError(input, error) {
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-errormessage", `${input.id}-wrong`);
  document.getElementById(`${input.id}-wrong`).textContent = error.message;
}

/** A field whose number is saved when it is changed; a wrong number stays, with the error beside it. */
function numberField(id, check) {
  const input = document.getElementById(id);
  input.after(make("p", { class: "wrong small", id: `${id}-wrong`, role: "alert" }));
  input.addEventListener("change", () => {
    try {
      let value = parseNumber(input.value);
      if (value !== null) check(value);
      clearError(input);
      if (id === "tolerate" && value === 0) value = null; // none, as without it
      if (value !== (bench.settings[id] ?? null)) changeSettings({ [id]: value });
    } catch (error) { showError(input, error); }
  });
}
numberField("population", (value) => {
  const people = bench.counts?.people ?? 1;
  if (value < 1 || !Number.isInteger(value)) throw new Error("The population is a whole number of people, such as 3200000 or 3.2 million.");
  if (value > 1e12) throw new Error("The population has at most 1,000,000,000,000 people.");
  if (value < people) throw new Error(`The population is smaller than the table, which holds ${count(people)} people.`);
});
numberField("tolerate", (value) => { if (!(value >= 0 && value <= 0.5)) throw new Error("The share is at most 0.5: write 1% or 0.01 for one record in a hundred."); });
numberField("certain", (value) => { if (!(value > 0.5 && value <= 1)) throw new Error("The share is above 0.5 and at most 1, such as 0.9 or 90%."); });
for (const name of ["threshold", "highest"]) numberField(name, (value) => { if (!(value > 0 && value <= 1)) throw new Error("A limit is above 0 and at most 1, such as 0.05, 5% or 1/20."); });

/** Focus a field with a wrong number; true if there is one. No job is started then. */
export function focusWrongField() {
  const active = document.activeElement;
  if (active?.matches?.("#question input")) active.dispatchEvent(new Event("change"));
  const wrong = document.querySelector("#question [aria-invalid=true]");
  if (wrong) { wrong.closest("details")?.setAttribute("open", ""); wrong.focus(); }
  return wrong !== null;
}

function draw() {
  recipient.value = bench.settings.recipient;
  help.textContent = recipient.selectedOptions[0].dataset.help;
  rowsArePeople.checked = bench.settings.rows_are_people;
  for (const list of drawnBy) {
    if (list.options.length !== bench.columns.length + 1) list.replaceChildren(list.options[0], ...bench.columns.map(({ name }) => make("option", { value: name }, shorten(name, 40))));
    list.value = bench.settings[list.id] ?? "";
  }
  if (document.activeElement !== secrets && !secrets.hasAttribute("aria-invalid")) secrets.value = (bench.settings.secrets || []).join("\n");
  for (const id of FIELDS) {
    const input = document.getElementById(id), value = bench.settings[id];
    if (!input.hasAttribute("aria-invalid") && document.activeElement !== input) input.value = value === null || value === undefined ? "" : id === "population" ? count(value) : value;
  }
  const weight = withRole(bench.columns, bench.settings, "weight").find((name) => bench.settings.decided.includes(name));
  unknown.textContent = bench.settings.population !== null ? `By this number you say that an attacker does not know who of these ${count(bench.settings.population)} people is in the table. Where somebody may know it, empty the field.` : weight ? `Unknown: as many as the weights in ${shorten(weight, 30)} add up to.` : "Unknown: the attacker is taken to know who is in the table.";
  drawGroups();
}

function drawGroups() {
  const names = knownColumns(), focused = document.activeElement?.id;
  groups.replaceChildren(...Object.entries(bench.settings.groups || {}).map(([name, members], place) => make("fieldset", { class: "group" },
    make("legend", { class: "hidden" }, `Group ${name}`),
    make("div", { class: "row" },
      make("input", { value: name, "aria-label": "Name of the group", maxlength: "60", onchange: (event) => rename(name, event.target.value.trim()) }),
      make("button", { type: "button", class: "quiet", onclick: () => editGroups((all) => delete all[name]) }, "Remove")),
    make("output", { class: "soft small", "data-group": name }, members.length ? "" : "Choose what is known together."),
    make("div", { class: "chips" }, names.map((column, number) => make("label", { class: "chip" },
      make("input", { type: "checkbox", id: `group-${place}-${number}`, checked: members.includes(column), onchange: (event) => editGroups((all) => {
        all[name] = event.target.checked ? [...all[name], column] : all[name].filter((one) => one !== column);
      }) }), make("bdi", {}, shorten(column, 30))))))));
  if (focused?.startsWith("group-")) document.getElementById(focused)?.focus();
  drawCounts();
}

function drawCounts() {
  for (const group of bench.counts?.groups ?? []) {
    const place = groups.querySelector(`output[data-group="${CSS.escape(group.label)}"]`);
    if (place) place.textContent = `${percent(group.correctness)} named correctly, ${percent(group.uniqueness)} unique`;
  }
}

function editGroups(edit) {
  const all = structuredClone(bench.settings.groups || {});
  edit(all);
  changeSettings({ groups: all }, { groups: filledGroups(all) });
}

function rename(old, name) {
  if (!name || name === old || bench.settings.groups[name]) { drawGroups(); return; }
  const all = Object.fromEntries(Object.entries(bench.settings.groups).map(([key, members]) => [key === old ? name : key, members]));
  changeSettings({ groups: all }, { groups: filledGroups(all) });
}

document.getElementById("add-group").addEventListener("click", () => editGroups((all) => {
  let number = Object.keys(all).length + 1;
  while (all[`group ${number}`]) number += 1;
  all[`group ${number}`] = [];
}));
for (const list of drawnBy) list.addEventListener("change", () => changeSettings({ [list.id]: list.value || null }));
recipient.addEventListener("change", () => changeSettings({ recipient: recipient.value }));
rowsArePeople.addEventListener("change", () => changeSettings({ rows_are_people: rowsArePeople.checked }));
const wrongSecrets = make("p", { class: "wrong small", id: "secrets-wrong", role: "alert" });
secrets.after(wrongSecrets);
secrets.addEventListener("change", () => {
  try {
    const values = readSecretValues(secrets.value, bench.columns.map(({ name }) => name));
    clearError(secrets);
    changeSettings({ secrets: values });
  } catch (error) { showError(secrets, error); }
});
document.getElementById("question").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("settings-restored", () => document.querySelectorAll("#question [aria-invalid]").forEach(clearError));
onChange("settings", draw);
onChange("counted", drawCounts);
