// The form of the steps of perturbation: columns, the kind of step, and its numbers.
import { make, shorten } from "./app.js";

const place = document.getElementById("steps"), template = document.getElementById("step");

/** Split a step into its columns, which plus signs join, its kind and its numbers. */
export function readStep({ column, action }, columns) {
  const [, kind, numbers] = /^([^=,]*)=?(.*)$/s.exec(action);
  return { names: columns.includes(column) ? [column] : column.split("+"), kind, numbers };
}
/** A step in the form of a request; null without columns. */
export function writeStep({ names, kind, numbers }) {
  const given = numbers.trim();
  return names.length ? { column: names.join("+"), action: !given ? kind : /^[a-z]+=/.test(given) ? `${kind},${given}` : `${kind}=${given}` } : null;
}

/** A step as its card tells it: its columns, the label of its kind in the form, and its numbers. */
export function stepInWords({ column, action }, labels = new Map([...template.content.querySelectorAll(".kind option")].map((one) => [one.value, one.textContent]))) {
  const { kind, numbers } = readStep({ column, action }, [column]);
  return [`${shorten(column, 40)}:`, (labels.get(kind) ?? kind).toLowerCase(), shorten(numbers.replace(/^,/, ""), 40)].filter(Boolean).join(" ");
}

const readRow = (row) => ({ names: [...row.querySelectorAll(".of")].map((one) => one.value).filter(Boolean), kind: row.querySelector(".kind").value, numbers: row.querySelector(".numbers").value });

/** Draw the columns of a step: a list for each chosen column, and one for a further column. */
function drawNames(row, names, columns) {
  const offered = [...new Set([...columns, ...names])];
  row.querySelector(".names").replaceChildren(...[...names, ""].map((name, index) => {
    const list = make("select", { class: "of", "aria-label": `Column ${index + 1} of the step` }, make("option", { value: "" }, index ? "and together with…" : "a column…"), offered.filter((one) => one === name || !names.includes(one)).map((value) => make("option", { value }, shorten(value, 40))));
    list.value = name;
    list.addEventListener("change", () => { drawNames(row, readRow(row).names, columns); row.querySelectorAll(".of")[index]?.focus(); });
    return list;
  }));
}

function addStep(step, columns) {
  const row = template.content.firstElementChild.cloneNode(true), kind = row.querySelector(".kind"), numbers = row.querySelector(".numbers");
  const explain = () => { row.querySelector(".help").textContent = kind.selectedOptions[0]?.dataset.help ?? "The app knows no such step."; };
  kind.value = step.kind;
  numbers.value = step.numbers;
  kind.addEventListener("change", () => { numbers.value = kind.selectedOptions[0].dataset.usual; explain(); });
  row.querySelector(".remove").addEventListener("click", () => row.remove());
  drawNames(row, step.names, columns);
  explain();
  place.append(row);
}

/** A new step: the first kind of the list with its usual numbers. */
const newStep = () => { const { value, dataset } = template.content.querySelector(".kind").options[0]; return { names: [], kind: value, numbers: dataset.usual }; };

/** Draw these steps, or a new one if there are none. */
export function drawSteps(steps, columns) {
  place.replaceChildren();
  for (const step of steps.length ? steps.map((one) => readStep(one, columns)) : [newStep()]) addStep(step, columns);
  document.getElementById("add-step").onclick = () => addStep(newStep(), columns);
}

/** The steps of the form, in order. */
export function readSteps() {
  const rows = [...place.children].map(readRow), steps = rows.map(writeStep);
  if (!steps.length || steps.includes(null)) throw new Error("Choose the columns of every step, or remove the step.");
  return steps;
}
