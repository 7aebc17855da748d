// The lenses: one look at the same table at a time. What is not looked at is kept outside the page, whole.
const tabs = [...document.querySelectorAll("[role=tab]")];
const panels = new Map([...document.querySelectorAll("[role=tabpanel]")].map((panel) => [panel.dataset.lens, panel]));
const shelf = document.getElementById("lens"), first = [], every = [];
let now = null;

/** Call `action` when a lens is first looked through, and `again` each time after. */
export function lens(name, action, again = () => {}) { first.push({ name, action }); every.push({ name, action: again }); }
export const looking = () => now;

export function look(name) {
  if (!panels.has(name)) return;
  for (const tab of tabs) {
    const here = tab.dataset.lens === name;
    tab.setAttribute("aria-selected", String(here));
    tab.tabIndex = here ? 0 : -1;
    if (here) tab.setAttribute("aria-controls", `panel-${name}`);
    else tab.removeAttribute("aria-controls");
  }
  panels.get(name).hidden = false;
  const changed = now !== name, before = now;
  now = name;
  if (changed) shelf.replaceChildren(panels.get(name));
  history.replaceState(null, "", location.pathname.replace(/[^/]+$/, name) + location.hash);
  window.drawFigures?.(shelf); // what came while nobody looked
  const begin = first.filter((one) => one.name === name);
  for (const one of begin) first.splice(first.indexOf(one), 1);
  if (changed && before !== null) reveal();
  document.dispatchEvent(new CustomEvent("looked"));
  for (const one of begin.length ? begin : changed ? every.filter((each) => each.name === name) : []) one.action();
}

const strip = document.querySelector("[role=tablist]"), bar = document.querySelector("nav.bar"); // it stays above what is scrolled

/** What was chosen is seen without scrolling, however long the verdict above it is. */
function reveal() {
  const { top } = strip.getBoundingClientRect(), under = bar.offsetHeight + 1; // its height is rounded
  if (top < under || top > innerHeight / 2) scrollBy(0, top - under);
}

strip.addEventListener("click", (event) => { const tab = event.target.closest("[role=tab]"); if (tab) look(tab.dataset.lens); });
strip.addEventListener("keydown", (event) => {
  const place = tabs.indexOf(document.activeElement), last = tabs.length - 1;
  const next = { ArrowRight: place === last ? 0 : place + 1, ArrowLeft: place ? place - 1 : last, Home: 0, End: last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  tabs[next].focus();
  look(tabs[next].dataset.lens);
});
