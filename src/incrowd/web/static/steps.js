// Steps of perturbation, in order: some columns, a kind of step of the library's list, and its numbers.
import { make, short } from "./app.js";

const place = document.getElementById("steps"), blank = document.getElementById("step");

/** A step as its parts: "noise=0.2" is a kind and the rest; columns that are changed together are joined by plus signs. */
export function readStep({ column, action }, columns) {
  const [, kind, numbers] = /^([^=,]*)=?(.*)$/s.exec(action);
  return { names: columns.includes(column) ? [column] : column.split("+"), kind, numbers };
}
/** A step as a request has it; null where no column is chosen. */
export function writeStep({ names, kind, numbers }) {
  const given = numbers.trim();
  return names.length ? { column: names.join("+"), action: !given ? kind : /^[a-z]+=/.test(given) ? `${kind},${given}` : `${kind}=${given}` } : null;
}

const partsOf = (row) => ({ names: [...row.querySelectorAll(".of")].map((one) => one.value).filter(Boolean), kind: row.querySelector(".kind").value, numbers: row.querySelector(".numbers").value });

/** The columns of a step: a list for each that is chosen, and one to choose another. */
function drawNames(row, names, columns) {
  const offered = [...new Set([...columns, ...names])];
  row.querySelector(".names").replaceChildren(...[...names, ""].map((name, index) => {
    const list = make("select", { class: "of", "aria-label": `Column ${index + 1} of the step` }, make("option", { value: "" }, index ? "and together with…" : "a column…"), offered.filter((one) => one === name || !names.includes(one)).map((value) => make("option", { value }, short(value, 40))));
    list.value = name;
    list.addEventListener("change", () => { drawNames(row, partsOf(row).names, columns); row.querySelectorAll(".of")[index]?.focus(); });
    return list;
  }));
}

function add(step, columns) {
  const row = blank.content.firstElementChild.cloneNode(true), kind = row.querySelector(".kind"), numbers = row.querySelector(".numbers");
  const explain = () => { row.querySelector(".help").textContent = kind.selectedOptions[0]?.dataset.help ?? "The app knows no such step."; };
  kind.value = step.kind;
  numbers.value = step.numbers;
  kind.addEventListener("change", () => { numbers.value = kind.selectedOptions[0].dataset.usual; explain(); });
  row.querySelector(".remove").addEventListener("click", () => row.remove());
  drawNames(row, step.names, columns);
  explain();
  place.append(row);
}

/** The first kind of the list, with what is usual for it. */
const first = () => { const { value, dataset } = blank.content.querySelector(".kind").options[0]; return { names: [], kind: value, numbers: dataset.usual }; };

/** Draw these steps; one that is still to be filled where there are none. */
export function drawSteps(steps, columns) {
  place.replaceChildren();
  for (const step of steps.length ? steps.map((one) => readStep(one, columns)) : [first()]) add(step, columns);
  document.getElementById("add-step").onclick = () => add(first(), columns);
}

/** The steps that are asked for, in their order. */
export function askedSteps() {
  const rows = [...place.children].map(partsOf), steps = rows.map(writeStep);
  if (!steps.length || steps.includes(null)) throw new Error("Choose the columns of every step, or remove the step.");
  return steps;
}
