// Protecting a table: by hand, or by a point of the comparison of all methods.
import { answersOf, api, data, make, newest, noProblem, problem, resume, save, say, settings, settled, start, table, written } from "./app.js";

const view = document.getElementById("view"), compared = document.getElementById("frontier-view");
const form = document.getElementById("protection"), nothing = document.getElementById("nothing");
const method = document.getElementById("method"), k = document.getElementById("k"), t = document.getElementById("t");
const resolution = document.getElementById("resolution"), sensitive = document.getElementById("sensitive");
const HELP = {
  partition: "Ranges and sets that fit each neighbourhood: the least loss for most tables.",
  sorted: "Cuts the sorted table into groups of k: quick and simple, coarser.",
  tcloseness: "Groups that also hide the secret: each looks like the whole table.",
  coarsen: "The same ranges for everybody, whatever the risk: nothing is promised about k.",
  generalise: "One coding for the whole file, found by search; a few rows may be dropped.",
};
let now = null;

function fits() {
  document.getElementById("k-said").textContent = k.value;
  document.getElementById("method-help").textContent = HELP[method.value] || "";
  form.querySelectorAll(".for-k").forEach((one) => { one.hidden = method.value === "coarsen"; });
  form.querySelectorAll(".for-resolution").forEach((one) => { one.hidden = method.value !== "coarsen"; });
  form.querySelectorAll(".for-t").forEach((one) => { one.hidden = method.value === "coarsen" || method.value === "generalise"; });
}

function asked() {
  const wanted = { method: method.value };
  if (method.value === "coarsen") wanted.resolution = Number(resolution.value);
  else wanted.k = Number(k.value);
  if (!form.querySelector(".for-t").hidden && sensitive.value) {
    wanted.sensitive = sensitive.value;
    const closeness = written(t.value);
    if (closeness !== null) wanted.t = closeness;
  }
  return wanted;
}

async function protect(wanted) {
  try {
    noProblem();
    await start(`/tables/${table}/protections`, wanted);
    nothing.hidden = true;
    view.scrollIntoView({ block: "nearest" });
  } catch (error) { problem(error); }
}

form.addEventListener("submit", (event) => { event.preventDefault(); try { protect(asked()); } catch (error) { problem(error); } });
form.addEventListener("input", fits);
document.getElementById("compare").addEventListener("click", () => {
  nothing.hidden = true;
  start(`/tables/${table}/frontiers`, {}).catch(problem);
});

answersOf("protection", view, { shown: () => { nothing.hidden = true; } });
answersOf("frontier", compared, { shown: () => { nothing.hidden = true; } });

/** A point of the comparison becomes the choice, and is applied. */
function take(index) {
  const point = data(compared, "result").points[index];
  const wanted = point.protection;
  method.value = wanted.method;
  if (wanted.k) k.value = String(wanted.k);
  if (wanted.resolution) resolution.value = String(wanted.resolution);
  fits();
  say(`Applying ${wanted.method}, ${point.setting}.`);
  protect(wanted);
}
document.addEventListener("drawn", (event) => {
  if (event.target.id !== "figure-frontier") return;
  event.target.dataset.clickable = "yes";
  event.detail.addEventListener("click", (_, item) => { if (item?.datum && Number.isInteger(item.datum.index)) take(item.datum.index); });
});
compared.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-point]");
  if (button) take(Number(button.dataset.point));
});
view.addEventListener("click", async (event) => {
  const button = event.target.closest("button.apply");
  if (!button) return;
  button.disabled = true;
  try {
    const made = await api("POST", `/jobs/${view.dataset.job}/apply`);
    location.href = `/tables/${made.id}/risk`;
  } catch (error) { problem(error); button.disabled = false; }
});

try {
  now = await settings();
  const secret = Object.entries(now.roles).filter(([, role]) => role === "sensitive").map(([name]) => name);
  sensitive.append(...secret.map((name) => make("option", { value: name }, name.slice(0, 60))));
  const kept = now.protection || {};
  if (kept.method) method.value = kept.method;
  if (kept.k) k.value = String(kept.k);
  fits();
  const jobs = await resume();
  nothing.hidden = Boolean(newest(jobs, "protection") || newest(jobs, "frontier"));
} catch (error) { problem(error); }
