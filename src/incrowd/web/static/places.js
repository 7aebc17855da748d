// The three places of the workbench, and the folds in them. A part that is shown for the first time is started then.
export const SECTIONS = { crowd: "who", risk: "who", riskiest: "who", forecast: "who", leak: "who", question: "who", candidates: "safe", attack: "safe", report: "decide" };
const links = [...document.querySelectorAll("[data-place][href]")], places = [...document.querySelectorAll(".place")];
const firstActions = [], laterActions = [];
let current = null;

/** Call `action` when a part is first shown, and `again` each time after. */
export function onShown(name, action, again = () => {}) {
  firstActions.push({ name, action });
  laterActions.push({ name, action: again });
}
export const currentPlace = () => current;

const foldOf = (name) => document.querySelector(`details[data-section="${name}"]`);

/** True if a part is on the page now: its place is shown, and it is unfolded. */
export const isShown = (name) => SECTIONS[name] === current && (foldOf(name)?.open ?? true);

function notify(name) {
  const begin = firstActions.filter((one) => one.name === name);
  for (const one of begin) firstActions.splice(firstActions.indexOf(one), 1);
  const actions = begin.length ? begin : laterActions.filter((one) => one.name === name);
  for (const one of actions) one.action();
}

function showPlace(name) {
  for (const link of links) {
    if (link.dataset.place === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const place of places) place.hidden = place.dataset.place !== name;
  current = name;
  history.replaceState(null, "", location.pathname.replace(/[^/]+$/, name) + location.hash);
  window.drawFigures?.(document); // figures that arrived while they were hidden
  document.dispatchEvent(new CustomEvent("place-shown"));
}

/** Show a place, or a part of one: it is unfolded and scrolled to. */
export function show(name) {
  const place = SECTIONS[name] ?? name, changed = place !== current, fold = foldOf(name);
  if (changed) {
    showPlace(place);
    scrollTo(0, 0);
    for (const section of Object.keys(SECTIONS)) if (section !== name && isShown(section)) notify(section);
  }
  if (!(name in SECTIONS)) return;
  if (!fold) { if (changed) notify(name); return; }
  if (fold.open) notify(name);
  fold.open = true; // tells of itself by its toggle event
  fold.scrollIntoView({ block: "start" });
}

for (const link of links) link.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(link.dataset.place);
});
document.addEventListener("toggle", (event) => {
  const name = event.target.dataset?.section;
  if (!name || !event.target.open || SECTIONS[name] !== current) return;
  notify(name);
  window.drawFigures?.(event.target);
}, true);
