// The forecast of a table: asked once for every place of the slider, when somebody looks, and again when the question has changed.
import { answersOf, newest } from "./answers.js";
import { known, over, problem, start, table } from "./app.js";
import { lens, looking } from "./lenses.js";
import { fill, populations } from "./slider.js";

const view = document.getElementById("forecast-view");
const ask = () => start(`/tables/${table}/forecasts`, { at: populations() }).catch(problem);

export function begin() {
  const latest = () => newest([...known.values()], "forecast");
  const renew = (job) => { if (job.stale && looking() === "forecast" && latest().id === job.id) ask(); }; // not after a Cancel
  const show = answersOf("forecast", view, { again: ask, shown: (job) => { fill(view); renew(job); }, restale: renew });
  const look = () => {
    const last = latest();
    if (!last || over(last) && (last.stale || last.state !== "done")) ask();
    else if (!view.dataset.wanted) show(last); // it was asked before this page was opened
  };
  lens("forecast", look, look);
}
