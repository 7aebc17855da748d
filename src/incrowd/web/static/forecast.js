// The forecast of a table: asked once for every place of the slider.
import { answersOf, newest } from "./answers.js";
import { problem, resume, start, table } from "./app.js";
import { fill, populations } from "./slider.js";

const view = document.getElementById("view");
const ask = () => start(`/tables/${table}/forecasts`, { at: populations() }).catch(problem);
answersOf("forecast", view, { again: ask, shown: () => fill(view) });
document.addEventListener("stepped", ask);
try {
  const last = newest(await resume(), "forecast");
  if (!last || last.state !== "running" && last.state !== "waiting" && (last.stale || last.state !== "done")) await ask();
} catch (error) { problem(error); }
