// The drawing of the crowd, with unique people at the rim. Marks move when the columns or k change, without a request to the server.
import { bench, onChange } from "./bench.js";
import { count, make, percent } from "./app.js";
import { ALONE, CROWD, JOINED, SMALL, below, bins, layout } from "./crowd-layout.js";
import { showPerson } from "./person.js";
import { countedBy } from "./roles.js";
import { setClassSize } from "./protect.js";

const canvas = document.getElementById("crowd"), words = document.getElementById("crowd-words"), rows = document.getElementById("crowd-rows"), slider = document.getElementById("crowd-k");
const said = document.getElementById("crowd-k-said"), useButton = document.getElementById("use-k"), markMeaning = document.getElementById("crowd-each"); // looked up once: the panels of other lenses are removed from the page
const COLOURS = { [ALONE]: "--over", [SMALL]: "--borderline", [CROWD]: "--link", [JOINED]: "--joined" };
const DURATION = 420; // milliseconds of a movement
const still = matchMedia("(prefers-reduced-motion: reduce)");
const stamps = new Map();
let colourOf = null, from = null, now = null, to = null, began = 0, frame = null, crowd = null, pointed = -1;

function colours() {
  const style = getComputedStyle(canvas);
  return Object.fromEntries(Object.entries(COLOURS).map(([kind, name]) => [kind, style.getPropertyValue(name).trim() || "#888"]));
}

/** Fit the canvas to its place and the pixels of the screen; returns half its width. */
function fit() {
  const side = canvas.clientWidth, scale = Math.min(2, devicePixelRatio || 1);
  if (side && canvas.width !== Math.round(side * scale)) canvas.width = canvas.height = Math.round(side * scale);
  return canvas.width / 2;
}

/** The picture of a mark, drawn once and then copied, since drawing thousands of circles per frame is too slow. */
function stamp(kind, radius) {
  const size = Math.max(3, Math.round(2 * radius)), name = `${kind} ${size}`;
  if (!stamps.has(name)) {
    const made = new OffscreenCanvas(size + 2, size + 2), ink = made.getContext("2d");
    ink.fillStyle = colourOf[kind];
    ink.globalAlpha = kind === CROWD ? 0.8 : 0.95;
    ink.arc(size / 2 + 1, size / 2 + 1, size / 2, 0, 2 * Math.PI);
    ink.fill();
    stamps.set(name, made);
  }
  return stamps.get(name);
}

/** Draw again after a change of the colours. */
function recolour() {
  stamps.clear();
  colourOf = null;
  paint();
}

function paint() {
  const half = fit(), ink = canvas.getContext("2d");
  if (!canvas.isConnected || !half || !now) return; // outside the page it has no style
  colourOf ??= colours();
  ink.clearRect(0, 0, 2 * half, 2 * half);
  const reach = 0.95 * half;
  for (const kind of [CROWD, JOINED, SMALL, ALONE]) {
    for (let mark = 0; mark < now.x.length; mark += 1) {
      if (to.kind[mark] !== kind) continue;
      const made = stamp(kind, now.radius[mark] * reach);
      ink.drawImage(made, Math.round(half + now.x[mark] * reach - made.width / 2), Math.round(half + now.y[mark] * reach - made.height / 2));
    }
  }
  if (pointed >= 0) {
    ink.beginPath();
    ink.arc(half + now.x[pointed] * reach, half + now.y[pointed] * reach, Math.max(5, now.radius[pointed] * reach + 3), 0, 2 * Math.PI);
    ink.lineWidth = 2;
    ink.strokeStyle = getComputedStyle(canvas).getPropertyValue("--ink");
    ink.stroke();
  }
}

function step(time) {
  const part = Math.min(1, (time - began) / DURATION), eased = 1 - (1 - part) ** 3;
  for (const name of ["x", "y", "radius"]) for (let mark = 0; mark < now.x.length; mark += 1) now[name][mark] = from[name][mark] + (to[name][mark] - from[name][mark]) * eased;
  paint();
  frame = part < 1 ? requestAnimationFrame(step) : null;
}

/** Move the marks to their new positions; another number of marks is drawn at once. */
function moveTo(next) {
  const same = now && now.x.length === next.x.length;
  to = next;
  if (!same || still.matches || !canvas.isConnected) {
    if (frame !== null) cancelAnimationFrame(frame); // it would move other marks than there are now
    frame = null;
    now = { x: next.x.slice(), y: next.y.slice(), radius: next.radius.slice() };
    paint();
    return;
  }
  from = { x: now.x.slice(), y: now.y.slice(), radius: now.radius.slice() };
  began = performance.now();
  frame ??= requestAnimationFrame(step);
}

function arrange() {
  if (!crowd) return;
  const k = Number(slider.value);
  moveTo(layout(crowd.marks, { k, enough: crowd.limits.class_size }));
  describe(k);
}

/** Describe the drawing in words and as a table. */
function describe(k) {
  const alone = crowd.sizes[0] === 1 ? crowd.counts[0] : 0, few = below(crowd.sizes, crowd.counts, k);
  said.textContent = k > 1 ? `k = ${k}` : "as it is";
  useButton.disabled = k < 2;
  useButton.textContent = k > 1 ? `Use k = ${k}` : "Use this k";
  slider.setAttribute("aria-valuetext", k > 1 ? `classes of at least ${k}` : "as it is");
  const partly = countedBy(bench.columns, bench.settings);
  words.classList.toggle("preliminary", partly !== "");
  words.textContent = (partly && `Not the whole risk: counted ${partly}, and the verdict takes these as known. `) + (k > 1
    ? `With classes of at least ${k}, ${count(few)} of ${count(crowd.people)} people (${percent(few / crowd.people)}) would be joined with others; nobody would be alone.`
    : crowd.sentence);
  rows.replaceChildren(...bins(crowd.sizes, crowd.counts, k).map((bin) => make("tr", {}, make("th", { scope: "row" }, bin.words),
    make("td", { class: "number" }, count(bin.people)), make("td", { class: "number" }, k > 1 ? count(bin.after) : ""))));
  canvas.setAttribute("aria-label", `${count(crowd.people)} people in ${count(crowd.classes)} classes, ${count(alone)} of them alone. The table beside it has the numbers.`);
  markMeaning.textContent = { person: "a mark is a person", class: "a mark is a class of people who look alike", share: `a mark is about ${Number((crowd.people / crowd.marks.size.length).toPrecision(2)).toLocaleString("en-US")} people` }[crowd.marks.each];
}

/** The mark under the pointer. */
function markAt(event) {
  if (!now) return -1;
  const half = canvas.clientWidth / 2, reach = 0.95 * half;
  const x = (event.offsetX - half) / reach, y = (event.offsetY - half) / reach;
  let best = -1, distance = (8 / reach) ** 2;
  for (let mark = 0; mark < now.x.length; mark += 1) {
    const apart = Math.max(0, Math.hypot(now.x[mark] - x, now.y[mark] - y) - now.radius[mark]) ** 2;
    if (apart < distance) { distance = apart; best = mark; }
  }
  return best;
}
canvas.addEventListener("pointermove", (event) => {
  const mark = markAt(event);
  if (mark === pointed) return;
  pointed = mark;
  canvas.title = mark < 0 ? "" : `${crowd.marks.size[mark] === 1 ? "alone" : `looks like ${count(crowd.marks.size[mark] - 1)} others`}${crowd.marks.people[mark] > 1 ? `; ${count(crowd.marks.people[mark])} people` : ""}`;
  if (frame === null) paint();
});
canvas.addEventListener("pointerleave", () => { pointed = -1; if (frame === null) paint(); });
canvas.addEventListener("click", (event) => {
  const mark = markAt(event);
  if (mark >= 0 && crowd.marks.each === "person" && crowd.people === crowd.records) showPerson(mark);
});

slider.addEventListener("input", arrange);
useButton.addEventListener("click", () => setClassSize(Number(slider.value)));
document.addEventListener("class-size", (event) => { if (document.activeElement?.id === "k") { slider.value = String(Math.min(Number(slider.max), event.detail)); arrange(); } });
document.getElementById("theme")?.addEventListener("click", () => requestAnimationFrame(recolour));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => requestAnimationFrame(recolour));
new ResizeObserver(() => paint()).observe(canvas);
onChange("counted", () => {
  canvas.parentElement.classList.toggle("fading", Boolean(bench.isCounting));
  if (bench.isCounting) return;
  crowd = bench.counts;
  pointed = -1;
  arrange();
  canvas.dataset.people = crowd ? String(crowd.people) : "";
});
onChange("settings", () => { if (crowd) describe(Number(slider.value)); }); // a decision changes what is said, not what is counted
export const redraw = () => paint();
