// The columns that a protection keeps secret: the list of the form, and the demands on them.
import { make, shorten } from "./app.js";
import { bench } from "./bench.js";
import { checkedColumns, emptyFields, offerColumns } from "./option-fields.js";

const list = document.getElementById("sensitive"), suggested = document.getElementById("suggested");
const columnLists = new Map(); // lists of columns by the value of their option

/** The value of an option that stands for several columns. */
function listValue(names) {
  const value = JSON.stringify(names);
  columnLists.set(value, names);
  return value;
}

/** The columns that the form keeps secret. */
export const secretColumns = () => columnLists.get(list.value) ?? [list.value].filter(Boolean);

/** Select an option of a list; one that only a script can set is added to the list. */
export function selectOption(list, value, words = value) {
  if (![...list.options].some((one) => one.value === value)) list.append(make("option", { value }, words));
  list.value = value;
}

/** The secret columns that are released: one that is left out cannot be kept secret. */
export const releasedSecrets = () => bench.columns.filter(({ name }) => bench.settings.roles[name] === "sensitive" && !checkedColumns().leave_out.includes(name));

/** Keep columns secret, but those that are left out; without any, what would be asked of them is emptied. */
export function selectSecrets(names) {
  const gone = checkedColumns().leave_out, stay = names.filter((name) => !gone.includes(name));
  selectOption(list, stay.length > 1 ? listValue(stay) : stay[0] ?? "", shorten(stay.join(", "), 60));
  if (names.length && !stay.length) {
    suggested.hidden = true;
    for (const id of ["l", "t"]) document.getElementById(id).value = "";
    emptyFields(["beta", "delta", "diversity", "c"]);
  }
  offerColumns(stay);
}

/** Fill the list by the current roles, without what is left out; the choice stays, but a suggested one is suggested again. */
export function fillSecrets() {
  const names = releasedSecrets().map(({ name }) => name), chosen = secretColumns();
  list.replaceChildren(make("option", { value: "" }, "no column"), ...names.map((name) => make("option", { value: name }, shorten(name))));
  if (names.length > 1) list.append(make("option", { value: listValue(names) }, names.length === 2 ? "both" : `all ${names.length} of them`));
  if (suggested.hidden || !names.length) selectSecrets(chosen);
  else offerColumns(secretColumns());
}
