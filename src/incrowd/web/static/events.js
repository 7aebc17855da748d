// Events of the server: changes made in another tab are shown here. The connection is open only while the page is visible.
import { api, debounced, showProblem, table } from "./app.js";
import { followJob, knownJobs } from "./jobs.js";
import { followOtherPages } from "./bench.js";

let source = null;

const reloadSoon = debounced(() => followOtherPages().catch(showProblem), 200);

function open() {
  if (source) return;
  source = new EventSource("/api/v1/events");
  source.addEventListener("table", (event) => { if (JSON.parse(event.data).id === table) reloadSoon(); });
  source.addEventListener("job", (event) => {
    const job = JSON.parse(event.data);
    if (job.table === table && job.of !== "leak" && !knownJobs.has(job.id)) api("GET", `/jobs/${job.id}`).then(followJob).catch(() => null); // it may have been removed
  });
  source.addEventListener("ended", close);
}

function close() {
  source?.close();
  source = null;
}

/** Follow the events while the page is visible. */
export function followEvents() {
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
}
