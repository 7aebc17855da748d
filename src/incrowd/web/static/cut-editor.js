// The editor of cut points: the histogram of a column with points that are dragged, moved by keys, or typed.
import { count, make } from "./app.js";
import { addCut, moveCut, readPoint, readPoints, snapper, sortCuts, writePoint } from "./cuts.js";

/** `found` is a histogram on a round axis; `changed(cuts)` is called at the end of every change. */
export function cutEditor(found, { days, whole, cuts: first, changed }) {
  const edges = found.edges?.map((edge) => (days ? readPoint(edge, true) : edge)) ?? null;
  const low = edges?.[0], high = edges?.at(-1), step = days || whole ? 1 : edges ? (edges[1] - edges[0]) / 10 : 1, snap = snapper(step, days);
  let cuts = first;
  const handles = make("div", { class: "handles" }), list = make("ol", { class: "cut-list" });
  const typed = make("input", { id: "cut-points", autocomplete: "off", placeholder: days ? "1980-01-01, 2000-01-01" : edges ? [snap(low + (high - low) / 3), snap(low + 2 * (high - low) / 3)].join(", ") : "18, 30, 65", onchange: () => { try { set(readPoints(typed.value, days)); wrong.textContent = ""; } catch (error) { wrong.textContent = error.message; } } });
  const wrong = make("p", { class: "wrong small", role: "alert" });
  const share = (at) => `${100 * Math.min(Math.max((at - low) / (high - low), 0), 1)}%`;

  function set(next) { cuts = sortCuts(next); draw(); changed(cuts); }
  function handle(cut, place) {
    const made = make("button", { type: "button", class: "cut", role: "slider", "aria-label": `Cut point ${place + 1}`, "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": cut.at, "aria-valuetext": writePoint(cut.at, days), title: writePoint(cut.at, days) });
    made.style.left = share(cut.at);
    const show = () => { made.style.left = share(cuts[place].at); made.title = writePoint(cuts[place].at, days); made.setAttribute("aria-valuetext", made.title); made.setAttribute("aria-valuenow", cuts[place].at); };
    made.addEventListener("pointerdown", (event) => { made.setPointerCapture(event.pointerId); made.dataset.dragged = "yes"; });
    made.addEventListener("pointermove", (event) => {
      if (!made.dataset.dragged) return;
      const box = handles.getBoundingClientRect();
      cuts = moveCut(cuts, place, snap(low + (high - low) * Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1)), step);
      show();
    });
    made.addEventListener("pointerup", () => { delete made.dataset.dragged; set(cuts); });
    made.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -10 * step, PageUp: 10 * step }[event.key];
      if (event.key === "Delete" || event.key === "Backspace") set(cuts.filter((_, index) => index !== place));
      else if (by) set(moveCut(cuts, place, Number((cuts[place].at + by).toPrecision(12)), step));
      else return;
      event.preventDefault();
      handles.children[Math.min(place, handles.children.length - 1)]?.focus();
    });
    return made;
  }
  function entry(cut, place) {
    const until = make("select", { "aria-label": `Levels at which cut point ${place + 1} is used`, onchange: (event) => set(cuts.map((one, index) => (index === place ? { ...one, until: Number(event.target.value) } : one))) }, [1, 2, 3, 4].map((level) => make("option", { value: level, selected: level === cut.until }, level === 1 ? "level 1 only" : `levels 1 to ${level}`)));
    return make("li", {}, make("span", {}, `from ${writePoint(cut.at, days)}`), until, make("button", { type: "button", class: "quiet", "aria-label": `Remove the cut at ${writePoint(cut.at, days)}`, onclick: () => set(cuts.filter((_, index) => index !== place)) }, "Remove"));
  }
  function draw() {
    if (edges) handles.replaceChildren(...cuts.map(handle));
    list.replaceChildren(...cuts.map(entry));
    typed.value = cuts.map((cut) => writePoint(cut.at, days)).join(", ");
  }
  const most = Math.max(...found.counts, 1);
  const bars = make("div", { class: "histogram", role: "img", "aria-label": `Rows by ranges; the largest has ${count(most)}` }, found.counts.map((rows, index) => make("i", { title: `${index ? `${found.edges[index]} to` : "up to"} ${index === found.counts.length - 1 ? "the end" : found.edges[index + 1]}: ${count(rows)} rows` })));
  found.counts.forEach((rows, index) => { bars.children[index].style.height = `${Math.max(1, 100 * rows / most)}%`; });
  draw();
  const axis = edges ? make("div", { class: "axis small soft" }, make("span", {}, `${found.edges[0]} and less`), make("span", {}, `${found.edges.at(-1)} and more`)) : make("p", { class: "small soft" }, "Too few rows to draw them without telling single values: type the cut points.");
  return make("div", { class: "cuts" }, edges ? make("div", { class: "cut-stage" }, bars, handles) : "", axis,
    make("label", { for: "cut-points" }, "Ranges begin at"), make("div", { class: "row" }, typed, edges ? make("button", { type: "button", class: "add-cut", onclick: () => set(addCut(cuts, low, high, snap)) }, "Add a cut") : ""), wrong, make("p", { class: "small soft" }, "Protection goes to a coarser level only where it must: level 1 first. A cut that is used at more levels lasts longer."), list);
}
