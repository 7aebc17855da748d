// What is asked of a protection in the words of the form, and whether the chosen method can keep it.
import { parseNumber } from "./numbers.js";

/** The columns that are kept secret, with l and t, as settings. `secrets` are names, `l` and `t` the texts of their fields. */
export function readDemands({ secrets, l, t }) {
  for (const [name, text] of [["t", t], ["l", l]]) if (text.trim() && !secrets.length) throw new Error(`Choose the column that ${name} = ${text.trim().slice(0, 20)} is about (“Keep secret”), or empty that field.`);
  const closeness = t.trim().toLowerCase() === "bound" ? "bound" : parseNumber(t), different = parseNumber(l);
  if (closeness !== null && closeness !== "bound" && !(closeness > 0 && closeness <= 1)) throw new Error("Closeness t is above 0 and at most 1, or the word bound.");
  if (different !== null && !(different >= 1 && different <= 1e6)) throw new Error("The number of different values in every class (l) is from 1 to 1,000,000.");
  return { sensitive: secrets.length > 1 ? secrets : secrets[0] ?? null, l: different, t: closeness };
}

/** The labels of the methods that take an input. */
const listed = (others, input) => others.filter((one) => one.inputs.includes(input)).map((one) => one.label).join(", ");
/** Refuse what a method cannot keep. `method` and `others` have a `label` and the `inputs` that they take; `important` are columns with an importance. */
export function checkDemands({ l, t }, important, method, others) {
  for (const [input, value] of [["l", l], ["t", t]]) if (value !== null && !method.inputs.includes(input)) throw new Error(`“${method.label}” makes no promise of ${input} = ${value}. Choose a method that does (${listed(others, input)}), or empty that field.`);
  if (important.length && !method.inputs.includes("importance")) throw new Error(`“${method.label}” heeds no importance of columns (${important.slice(0, 3).join(", ")}${important.length > 3 ? ", …" : ""}). Choose a method that does (${listed(others, "importance")}), or make the importance 1 under “How columns are made coarser”.`);
}

/** Refuse a number outside the range of its option. */
function checkRange({ kind, lowest = null, above = null, highest = null }, value) {
  const least = lowest ?? (above === null && kind !== "number" ? 0 : null), below = kind === "share" ? 1 : null, says = (number) => number.toLocaleString("en", { maximumFractionDigits: 20 });
  const range = [least !== null && `${says(least)} or more`, above !== null && `above ${says(above)}`, below !== null && `below ${says(below)}`, highest !== null && `at most ${says(highest)}`].filter(Boolean).join(" and ");
  const fits = (least === null || value >= least) && (above === null || value > above) && (below === null || value < below) && (highest === null || value <= highest);
  if (!fits || (kind === "whole" && !Number.isInteger(value))) throw new Error(`Write a ${kind === "whole" ? "whole " : ""}number of ${range}.`.replace(/of (above|below|at)/, "$1"));
  return value;
}

/** Columns with a number each as text: age=10, town=3. A name that would not be read back is in quotes. */
export const writePairs = (pairs) => Object.entries(pairs).map(([name, value]) => `${name === name.trim() && !/[",;=]/.test(name) ? name : JSON.stringify(name)}=${value}`).join(", ");

/** Read such a text; `columns` are the names that it may have. */
function readPairs(field, text, columns) {
  const pair = /\s*(?:("(?:[^"\\]|\\["\\nrt]|\\u[0-9a-f]{4})*")|([^",;=]+?))\s*=\s*([^,;=]+?)\s*(?:[,;]|$)/y, found = new Map(), rest = text.trim();
  while (pair.lastIndex < rest.length) {
    const one = pair.exec(rest);
    if (!one) throw new Error("Write columns with a number each, such as age=10, town=3.");
    const name = one[1] ? JSON.parse(one[1]) : one[2];
    if (!columns.includes(name)) throw new Error(`“${name.slice(0, 40)}” is not a column that others know. These are: ${columns.slice(0, 10).join(", ")}${columns.length > 10 ? ", …" : ""}.`);
    if (found.has(name)) throw new Error(`“${name.slice(0, 40)}” has two numbers.`);
    found.set(name, checkRange(field, parseNumber(one[3])));
  }
  return Object.fromEntries(found);
}

/** The value of an option by what its field holds: a text, checked columns, or whether it is on. `field` is its declaration. */
export function readField(field, held, columns) {
  if (typeof held !== "string") return held;
  if (field.kind === "numbers") return readPairs(field, held, columns);
  if (!held.trim()) return field.default || null; // 0 stands for no share, as in a request
  return field.kind === "text" ? held : checkRange(field, parseNumber(held));
}

/** True if a value is neither empty nor the default of its option. */
export const isGiven = (field, value) => ![null, undefined, false, field.default].includes(value) && (typeof value !== "object" || Object.keys(value).length > 0);

const NEEDS = { // what an option says something about
  beta: [({ sensitive }) => sensitive, "a column under “Keep secret”"],
  delta: [({ sensitive }) => sensitive, "a column under “Keep secret”"],
  diverse: [({ sensitive, diverse }) => diverse.every((name) => [sensitive].flat().includes(name)), "these columns under “Keep secret”"],
  diversity: [({ l }) => l !== null, "a number of different values (l)"],
  c: [({ diversity }) => diversity === "recursive", "the diversity “recursive”"],
  subsets: [({ wildcards }) => wildcards, "wildcards"],
};
/** Refuse an option that the method does not take, or that says nothing beside the others that are `asked`. */
export function checkField(field, asked, method, others) {
  if (!isGiven(field, asked[field.name])) return;
  if (!method.inputs.includes(field.name)) throw new Error(`“${method.label}” does not take this. Choose a method that does (${listed(others, field.name)}), or empty this field.`);
  const [holds, words] = NEEDS[field.name] ?? [() => true];
  if (!holds(asked)) throw new Error(`This says nothing without ${words}: ask for that too, or empty this field.`);
}

/** An option with its value in the words of a card. */
export function fieldInWords({ name }, value) {
  if (value === true) return name;
  return Array.isArray(value) ? `${name}: ${value.join(", ")}` : typeof value === "object" ? `${name}: ${writePairs(value)}` : `${name} = ${value}`;
}
