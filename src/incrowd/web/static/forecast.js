// The Populations lens: one forecast for all positions of the slider, started when the lens is shown and again when it is stale.
import { newestJob, showAnswersOf } from "./answers.js";
import { showProblem, table } from "./app.js";
import { isFinished, startJob } from "./jobs.js";
import { isShown, onShown } from "./places.js";
import { fillSlider, populations } from "./slider.js";

const view = document.getElementById("forecast-view");
const startForecast = () => startJob(`/tables/${table}/forecasts`, { at: populations() }).catch(showProblem);

export function initForecast() {
  const latest = () => newestJob("forecast");
  const renew = (job) => { if (job.stale && isShown("forecast") && latest().id === job.id) startForecast(); }; // not after the user has cancelled one
  const show = showAnswersOf("forecast", view, { again: startForecast, shown: (job) => { fillSlider(view); renew(job); }, restale: renew });
  const look = () => {
    const last = latest();
    if (!last || isFinished(last) && (last.stale || last.state !== "done")) startForecast();
    else if (!view.dataset.wanted) show(last); // it was started before this page was loaded
  };
  onShown("forecast", look, look);
}
