// Which verdict leads above the lenses: that of the current candidate once there is one, with that of the table as it is folded below it.
import { make, patch, shorten } from "./app.js";
import { foldedConditions, hasConditions } from "./conditions.js";

export const STAMPS = { within: "✓", undecided: "?", exposed: "!", borderline: "≈", over: "✕" };
const place = document.getElementById("candidate-verdict"), original = document.getElementById("original"), todo = document.getElementById("todo");
let ledBy = null; // the candidate whose verdict leads

/** Say in the fold what the verdict on the table as it is says. */
export function nameOriginal(headline) { original.querySelector("summary").textContent = `The table as it is: ${headline}`; }

/** Unfold the verdict on the table as it is. */
export function showOriginal() { original.open = true; }

function verdictElement(one) {
  return make("section", { class: `verdict leading ${one.decision}`, "aria-labelledby": "candidate-title", "data-job": one.id, "data-stale": one.stale, "data-ifs": hasConditions(one) },
    make("p", { class: "stamp", "aria-hidden": "true" }, STAMPS[one.decision]),
    make("div", {},
      make("p", { class: "eyebrow" }, "Candidate ", make("bdi", {}, shorten(one.name, 80)), one.stale ? ", made by other settings than those in the form" : ""),
      make("h2", { id: "candidate-title" }, one.headline),
      one.decision === "within" ? foldedConditions(one) : [make("p", { class: "small" }, one.sentence), one.reason ? make("p", { class: "small" }, one.reason) : null],
      make("p", { class: "row" }, make("button", { type: "button", class: "quiet", onclick: () => document.dispatchEvent(new CustomEvent("show-candidate", { detail: one.id })) }, "Show this candidate"))));
}

/** Let the verdict on a candidate lead. One that was judged by other roles, scales or another recipient does not: nobody has judged it by those of now. */
export function drawLeading(candidate) {
  const leading = candidate && !candidate.question_changed ? candidate : null, id = leading?.id ?? null;
  patch(place, leading ? [verdictElement(leading)] : []);
  original.toggleAttribute("data-folded", leading !== null);
  if (id !== ledBy) original.open = leading === null;
  ledBy = id;
  const isInside = leading?.decision === "within"; // the advice is about the table as it is
  if (isInside === (todo.parentElement === original)) return; // moving it would take the focus from its buttons
  if (isInside) original.append(todo);
  else original.after(todo);
}
