// Several tabs in step: what another one changes is taken over here. One connection, open only while the page is seen.
import { api, follow, known, problem, settled, table } from "./app.js";
import { inStep } from "./bench.js";

let source = null;

const reread = settled(() => inStep().catch(problem), 200);

function open() {
  if (source) return;
  source = new EventSource("/api/v1/events");
  source.addEventListener("table", (event) => { if (JSON.parse(event.data).id === table) reread(); });
  source.addEventListener("job", (event) => {
    const job = JSON.parse(event.data);
    if (job.table === table && job.of !== "leak" && !known.has(job.id)) api("GET", `/jobs/${job.id}`).then(follow).catch(() => null); // it may be gone already
  });
  source.addEventListener("ended", close);
}

function close() {
  source?.close();
  source = null;
}

/** Listen while somebody looks. */
export function listen() {
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
}
