// Requests of the Curves lens: the address and the body, or an Error that says which field is missing.
import { parsePoints } from "./numbers.js";

/** Read pasted ranks: whole numbers from 1, separated by spaces, commas or semicolons. */
export function pastedRanks(text) {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const wrong = words.findIndex((word) => !/^[1-9]\d{0,8}$/.test(word));
  if (wrong >= 0) throw new Error(`The ${wrong + 1}. rank is not a whole number from 1.`);
  if (words.length < 2) throw new Error("Paste the ranks of two probes at least.");
  return words.map(Number);
}

/** Read pasted techniques: the name on a line, then its points. */
export function pastedTechniques(text) {
  const found = [];
  for (const line of text.split(/\r?\n/).map((raw) => raw.trim()).filter(Boolean)) {
    if (/^[\d.]/.test(line)) {
      if (!found.length) throw new Error("Begin with the name of a technique on a line of its own.");
      found.at(-1).lines.push(line);
    } else found.push({ name: line, lines: [] });
  }
  if (found.length < 2) throw new Error("Name two techniques at least, each on a line before its points.");
  return found.map(({ name, lines }) => {
    try { return { name, points: parsePoints(lines.join("\n")) }; } catch (error) { throw new Error(`${name}: ${error.message}`); }
  });
}

/** What each question of the lens is for. */
export const PURPOSES = {
  exact: "How often somebody who knows the columns that others know is right, from a few people to the whole world.",
  check: "Whether the formula behind the forecasts describes this table: where it does not, forecasts by it alone are trusted less.",
  sparse: "Somebody knows a few purchases, places or films of a person: how often do these lead to the one record?",
  ranks: "A study searched for people and noted at which place the right one came: how often would it come first among more people?",
  pasted: "The same from places that you paste: 1 where the right person came first, 2 where second, and so on.",
  robust: "Measurements of the same people, such as faces or voices, taken twice: how often is the nearest one the right one?",
  techniques: "Several techniques with their measured shares: which one finds most people in a large crowd?",
  items: "How many people share the same few items: who shares them with too few others can be found by them.",
  "protect-items": "Make sets of items coarser until enough people share every few of them.",
  "protect-points": "Make places and times coarser until enough people share every few of them.",
  masked: "A file with ranges, sets and stars: who is still alone if every cell may be any value that it covers?",
  regenerate: "What masked cells become if they are filled from counts that anybody can look up.",
};

function need(value, words) { if (!value) throw new Error(words); return value; }

/** The address after that of the table, and the body of the request. */
export function curveQuestion(kind, form) {
  const compare = Boolean(form.compare);
  if (kind === "exact") return ["curves/exact", { compare }];
  if (kind === "check") return ["checks", {}];
  if (kind === "masked") return ["masked", {}];
  if (kind === "regenerate") return ["regenerations", { counts: need(form.counts, "Choose the table of the counts, or a file of it.") }];
  if (kind === "pasted") return ["curves/ranks", { ranks: pastedRanks(form.pasted), compare }];
  if (kind === "techniques") return ["curves/techniques", { techniques: pastedTechniques(form.techniques) }];
  if (kind === "ranks") return ["curves/ranks", { ranks: need(form.ranks, "Choose the column of the ranks."), group: form.group || null, confidence: form.confidence || null, compare }];
  if (kind === "robust") return ["curves/robust", { gallery: need(form.gallery, "Choose the table of the gallery, or a file of it."), compare }];
  const person = need(form.person, "Choose the column that says whose row it is."), item = need(form.item, "Choose the column of what they have.");
  const asked = { person, known: form.known, k: form.k };
  if (kind === "protect-items") return ["set-protections", { ...asked, item }];
  if (kind === "protect-points") return ["set-protections", { ...asked, time: need(form.time, "Choose the column of the times."), place: [item, form.second].filter(Boolean), amount: form.amount || null }];
  if (kind === "items") return ["itemsets", { person, item, known: form.known }];
  return ["curves/sparse", { person, item: [item], known: form.known, compare }];
}
