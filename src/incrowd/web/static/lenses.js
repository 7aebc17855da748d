// The lenses, which are tabs of the workbench. The panels of hidden lenses are removed from the page and kept here.
const tabs = [...document.querySelectorAll("[role=tab]")];
const panels = new Map([...document.querySelectorAll("[role=tabpanel]")].map((panel) => [panel.dataset.lens, panel]));
const lensPlace = document.getElementById("lens"), firstActions = [], laterActions = [];
let current = null;

/** Call `action` when a lens is first shown, and `again` each time after. */
export function onLens(name, action, again = () => {}) { firstActions.push({ name, action }); laterActions.push({ name, action: again }); }
export const currentLens = () => current;

export function showLens(name) {
  if (!panels.has(name)) return;
  for (const tab of tabs) {
    const here = tab.dataset.lens === name;
    tab.setAttribute("aria-selected", String(here));
    tab.tabIndex = here ? 0 : -1;
    if (here) tab.setAttribute("aria-controls", `panel-${name}`);
    else tab.removeAttribute("aria-controls");
  }
  panels.get(name).hidden = false;
  const changed = current !== name, before = current;
  current = name;
  if (changed) lensPlace.replaceChildren(panels.get(name));
  history.replaceState(null, "", location.pathname.replace(/[^/]+$/, name) + location.hash);
  window.drawFigures?.(lensPlace); // figures that arrived while it was hidden
  const begin = firstActions.filter((one) => one.name === name);
  for (const one of begin) firstActions.splice(firstActions.indexOf(one), 1);
  if (changed && before !== null) scrollToTabs();
  document.dispatchEvent(new CustomEvent("lens-shown"));
  for (const one of begin.length ? begin : changed ? laterActions.filter((each) => each.name === name) : []) one.action();
}

const strip = document.querySelector("[role=tablist]"), bar = document.querySelector("nav.bar"); // the bar is sticky

/** Scroll the tabs below the status bar, so that the lens is visible under a long verdict. */
function scrollToTabs() {
  const { top } = strip.getBoundingClientRect(), under = bar.offsetHeight + 1; // offsetHeight is rounded
  if (top < under || top > innerHeight / 2) scrollBy(0, top - under);
}

strip.addEventListener("click", (event) => { const tab = event.target.closest("[role=tab]"); if (tab) showLens(tab.dataset.lens); });
strip.addEventListener("keydown", (event) => {
  const place = tabs.indexOf(document.activeElement), last = tabs.length - 1;
  const next = { ArrowRight: place === last ? 0 : place + 1, ArrowLeft: place ? place - 1 : last, Home: 0, End: last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  tabs[next].focus();
  showLens(tabs[next].dataset.lens);
});
