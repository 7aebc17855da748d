// The fields of options that need no code of their own: the page says of each what it takes, from its declaration.
import { make, shorten } from "./app.js";
import { bench } from "./bench.js";
import { hasRole } from "./roles.js";
import { checkField, fieldInWords, isGiven, readField, writePairs } from "./demands.js";

const fields = [...document.querySelectorAll("#protection [data-option]")].map((place) => ({ ...JSON.parse(place.dataset.option), roles: (place.dataset.roles ?? "").split(" "), place, input: place.querySelector(".value"), wrong: place.querySelector(".wrong") }));
const further = document.getElementById("further");
let secrets = []; // the columns that the form keeps secret

/** What a field holds: a text, the checked columns, or whether it is on. */
const held = ({ kind, input }) => (kind === "columns" ? [...input.querySelectorAll(":checked")].map((one) => one.value) : kind === "switch" ? input.checked : input.value);
const isFilled = (field) => { const value = held(field); return typeof value === "string" ? ![field.default ?? "", ""].includes(value.trim()) : isGiven(field, value); };

/** The columns that a field offers: those kept secret, or those of its roles, the ones with missing values first. */
const offered = ({ roles }) => roles.includes("asked") ? secrets : bench.columns.filter(({ name }) => roles.some((role) => hasRole(bench.settings.roles[name], role))).sort((a, b) => (b.nulls > 0) - (a.nulls > 0)).map(({ name }) => name);
function drawChips(field, names, checked) {
  field.input.replaceChildren(...names.map((value) => make("label", { class: "chip" }, make("input", { type: "checkbox", value, checked: checked.includes(value) }), make("bdi", {}, shorten(value, 30)))));
}

/** The checked columns of every field that has some to check. */
export const checkedColumns = () => Object.fromEntries(fields.filter(({ kind }) => kind === "columns").map((field) => [field.name, held(field)]));

/** Empty some options: what they are about is gone. */
export function emptyFields(names) {
  for (const { name, input, default: usual } of fields) if (names.includes(name)) input.value = usual ?? "";
}

/** Offer columns by their current roles, and those that are kept secret now; choices among them stay. */
export function offerColumns(keptSecret) {
  secrets = keptSecret;
  for (const field of fields) if (field.kind === "columns") drawChips(field, offered(field), held(field));
}

/** Fill the fields from the settings; true if one is filled. What the settings name is offered whatever its role, so that it can be seen. */
export function fillFields(protection) {
  secrets = [protection.sensitive ?? []].flat();
  for (const field of fields) {
    const { kind, name, input, wrong } = field, value = protection[name];
    wrong.textContent = "";
    if (kind === "columns") drawChips(field, [...new Set([...offered(field), ...value])], value);
    else if (kind === "switch") input.checked = value;
    else if (kind === "numbers") input.value = writePairs(value);
    else input.value = input.matches("select") || isGiven(field, value) ? value ?? "" : "";
  }
  const filled = fields.filter(isFilled);
  if (filled.some(({ place }) => further.contains(place))) further.open = true;
  return filled.length > 0;
}

/** Show the fields that the method takes, and those that are filled. */
export function showFields({ inputs }) {
  for (const field of fields) field.place.hidden = (field.kind === "columns" && !field.input.childElementCount) || (!inputs.includes(field.name) && !isFilled(field));
}

/** The options of the fields as settings; what is wrong is said beside its field. `demands` are those of other fields. */
export function readFields(demands, method, others) {
  const found = {}, known = offered({ roles: ["quasi-identifier"] }), wrong = [];
  const attempt = (action) => (field) => {
    try { action(field); } catch (error) {
      wrong.push(field);
      field.wrong.textContent = error.message;
    }
  };
  for (const field of fields) field.wrong.textContent = "";
  fields.forEach(attempt((field) => { found[field.name] = readField(field, held(field), known); }));
  if (![demands.l, demands.t, found.beta, found.delta].some((one) => one !== null)) found.diverse = []; // nothing has to differ, as after a search whose l was emptied
  fields.filter((field) => field.name in found).forEach(attempt((field) => checkField(field, { ...demands, ...found }, method, others)));
  if (!wrong.length) return found;
  for (let fold = wrong[0].place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  wrong[0].place.querySelector("input, select").focus();
  wrong[0].place.scrollIntoView({ block: "center" }); // with what is said below it
  throw new Error("A demand above is not right: see what is said beside its field.");
}
document.getElementById("protection").addEventListener("input", (event) => { const wrong = event.target.closest("[data-option]")?.querySelector(".wrong"); if (wrong) wrong.textContent = ""; });

/** The options of the folded fields that are asked for, in words; not the seed, by which draws are undone. */
export const furtherInWords = (protection) => fields.filter((field) => further.contains(field.place) && field.name !== "seed" && isGiven(field, protection[field.name])).map((field) => fieldInWords(field, protection[field.name]));
