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

/** Refuse what a method cannot keep. `method` and `others` have a `label` and the `inputs` that they take; `important` are columns with an importance. */
export function checkDemands({ l, t }, important, method, others) {
  const able = (input) => others.filter((one) => one.inputs.includes(input)).map((one) => one.label).join(", ");
  for (const [input, value] of [["l", l], ["t", t]]) if (value !== null && !method.inputs.includes(input)) throw new Error(`“${method.label}” makes no promise of ${input} = ${value}. Choose a method that does (${able(input)}), or empty that field.`);
  if (important.length && !method.inputs.includes("importance")) throw new Error(`“${method.label}” heeds no importance of columns (${important.slice(0, 3).join(", ")}${important.length > 3 ? ", …" : ""}). Choose a method that does (${able("importance")}), or make the importance 1 under “How columns are made coarser”.`);
}
