// Verdicts in words, and what a yes depends on, as every page shows it: the first conditions and the beginning and end of each; what is folded is counted.
import { make, percent } from "./app.js";

const BASES = { table: "in the table", population: "in the population", attacks: "by attacks" };
export const basisInWords = (basis) => BASES[basis] ?? BASES.table;
/** The numbers of a candidate when it was saved. */
export const savedInWords = ({ headline, highest, detail }) => `${headline}; ${percent(highest)} at most · ${percent(detail)} detail kept`;
export const STAMPS = { yes: "✓", if: "◐", no: "✕" };

const LONG = 320; // letters
const FIRST = 3; // conditions that are always visible

/** Split a long sentence into a beginning, the names of a list that are folded, and an end. */
export function splitSentence(text) {
  if (text.length <= LONG) return [text, "", ""];
  const cut = text.lastIndexOf(" ", LONG - 120), colon = text.lastIndexOf(": ");
  const end = colon > cut && text.length - colon < LONG ? colon : text.length;
  return [text.slice(0, cut), text.slice(cut, end), text.slice(end)];
}

function conditionElement(text) {
  const [start, folded, end] = splitSentence(text), names = folded.split(",").length;
  return make("p", { class: "condition small" }, start, folded ? make("details", {}, make("summary", {}, names > 2 ? `… ${names} more` : "… all of it"), folded) : null, end);
}

/** The conditions of a yes, a paragraph each; those after the first few are folded together. */
export function conditionElements(sentences) {
  const all = sentences.map(conditionElement), more = all.splice(all.length > FIRST + 1 ? FIRST : all.length);
  return more.length ? [...all, make("details", { class: "condition small" }, make("summary", {}, `${more.length} more conditions`), more)] : all;
}

/** The recommendation, and the conditions of a yes folded with their number, where they stand in full elsewhere on the page. */
export function foldedConditions(candidate) {
  const { decision, sentence, conditions } = candidate, said = decision === "within" ? [conditionElement(sentence)] : [];
  if (conditions.length < 2) return conditionElements(candidateConditions(candidate));
  return [...said, make("details", { class: "condition small" }, make("summary", {}, decision === "within" ? `the ${conditions.length} conditions` : `${conditions.length} remarks`), conditions.map(conditionElement))];
}

/** Fold the conditions that the server has written out in a result. */
export function foldConditions(place) {
  const all = [...place.querySelectorAll(".verdict p.condition")];
  all[0]?.before(...conditionElements(all.map((one) => one.textContent)));
  for (const one of all) one.remove();
}

/** What stands with the verdict on a candidate: the recommendation, and what it depends on. */
const candidateConditions = ({ decision, sentence, conditions }) => [...(decision === "within" ? [sentence] : []), ...conditions];
