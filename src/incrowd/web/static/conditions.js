// What a yes depends on, as every page shows it: never folded, but a long sentence is folded after its beginning.
import { make } from "./app.js";

const LONG = 320; // letters

/** Split a sentence into a beginning that is always visible, and the rest of a long one. */
export function splitSentence(text) {
  if (text.length <= LONG) return [text, ""];
  const end = text.lastIndexOf(" ", LONG - 60);
  return [text.slice(0, end), text.slice(end + 1)];
}

/** The conditions of a yes, a paragraph each. */
export function conditionElements(sentences) {
  return sentences.map((one) => {
    const [start, rest] = splitSentence(one);
    return make("p", { class: "condition small" }, start, rest ? make("details", {}, make("summary", {}, "… all of it"), rest) : null);
  });
}

/** What stands with the verdict on a candidate: the recommendation, and what it depends on. */
export const candidateConditions = ({ decision, sentence, conditions }) => [...(decision === "within" ? [sentence] : []), ...conditions];
