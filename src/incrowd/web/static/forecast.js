// The forecast of a table: asked once for every place of the slider, when somebody looks, and again when the question has changed.
import { answersOf, newest } from "./answers.js";
import { known, over, problem, start, table } from "./app.js";
import { lens } from "./lenses.js";
import { fill, populations } from "./slider.js";

const view = document.getElementById("forecast-view");
const ask = () => start(`/tables/${table}/forecasts`, { at: populations() }).catch(problem);

export function begin() {
  const show = answersOf("forecast", view, { again: ask, shown: () => fill(view), restale: () => {} });
  const look = () => {
    const last = newest([...known.values()], "forecast");
    if (!last || over(last) && (last.stale || last.state !== "done")) ask();
    else if (!view.dataset.wanted) show(last); // it was asked before this page was opened
  };
  lens("forecast", look, look);
}
