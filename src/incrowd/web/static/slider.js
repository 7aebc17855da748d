// The slider of population sizes. The server has forecast every position; nothing is computed here.
import { embeddedJson } from "./answers.js";
import { count, make, percent, table } from "./app.js";

const NAMED = [["city", "a city"], ["us", "United States"], ["eu", "European Union"], ["world", "the world"]];
const box = document.getElementById("slider"), size = document.getElementById("size");
const people = document.getElementById("people"), word = document.getElementById("people-word"), there = document.getElementById("there"), named = document.getElementById("named");
let places = [], chart = null, measured = 0, storageKey = "";

/** The named populations to request; the server adds sizes between them. */
export const populations = () => NAMED.map(([name]) => name);

export function fillSlider(view) {
  const found = embeddedJson(view, "result");
  if (!found) return;
  places = [found.curve, found.forecast].flatMap(placesOf).sort((a, b) => a.at - b.at);
  size.max = String(places.length - 1);
  measured = found.forecast.method !== "combined" ? 0 : found.forecast.measured; // numbers up to this size are counted, not estimated
  storageKey = `incrowd-people-${table}-${found.population}`; // another population has its own position
  const wanted = Number(sessionStorage.getItem(storageKey)) || found.population || found.forecast.measured || 1e6;
  size.value = String(nearest(wanted));
  named.replaceChildren(...NAMED.filter(([name]) => places.some((place) => place.name === name)).map(([name, words]) => make("button", {
    type: "button", "data-name": name, onclick: () => { size.value = String(places.findIndex((place) => place.name === name)); choosePlace(); },
  }, words)));
  box.hidden = false;
  showPlace();
}

function placesOf(part) {
  const at = (estimate, index) => estimate && { value: estimate.value[index], low: estimate.low[index], high: estimate.high[index] };
  return part.at.map((people, index) => ({ at: people, name: part.names[index], correctness: at(part.correctness, index), uniqueness: at(part.uniqueness, index) }));
}

const nearest = (wanted) => places.reduce((best, place, index) => (Math.abs(Math.log(place.at / wanted)) < Math.abs(Math.log(places[best].at / wanted)) ? index : best), 0);

function showPlace() {
  const place = places[Number(size.value)];
  const name = NAMED.find(([key]) => key === place.name);
  people.textContent = count(place.at);
  word.textContent = place.at === 1 ? "person" : `people${name ? ", " + name[1] : ""}`;
  size.setAttribute("aria-valuetext", `${count(place.at)} people${name ? ", " + name[1] : ""}`);
  const counted = (estimate) => place.at <= measured && estimate.low === estimate.high;
  const item = (title, estimate, words) => estimate && make("div", {}, make("dt", {}, title), make("dd", {},
    make("strong", {}, percent(estimate.value)), make("span", {}, words(estimate)),
    make("em", {}, counted(estimate) ? "counted, not estimated" : `95% interval ${percent(estimate.low)} to ${percent(estimate.high)}`)));
  there.replaceChildren(...[
    item("named correctly", place.correctness, (one) => `about ${count(one.value * place.at)} of them`),
    item("unique", place.uniqueness, (one) => `about ${count(one.value * place.at)} ${count(one.value * place.at) === "1" ? "looks" : "look"} like nobody else`),
  ].filter(Boolean));
  for (const chip of named.children) chip.setAttribute("aria-pressed", String(chip.dataset.name === place.name));
  chart?.data("chosen", [{ n: place.at }]).run();
}

function choosePlace() {
  showPlace();
  try { sessionStorage.setItem(storageKey, String(places[Number(size.value)].at)); } catch { /* without storage the position is not remembered */ }
}

size.addEventListener("input", choosePlace);
document.addEventListener("drawn", (event) => {
  if (event.target.id !== "figure-forecast") return;
  chart = event.detail;
  if (places.length) showPlace();
});
