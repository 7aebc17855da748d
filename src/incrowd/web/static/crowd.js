// The drawing of the crowd, with unique people at the rim: the original, or a candidate. Both are counted; the same people move.
import { api, count, make, requestCounter, showProblem, table } from "./app.js";
import { bench, onChange } from "./bench.js";
import { ALONE, CROWD, SMALL, layout, peopleByLimit } from "./crowd-layout.js";
import { showPerson } from "./person.js";

const canvas = document.getElementById("crowd"), words = document.getElementById("crowd-words"), legend = document.getElementById("legend");
const markMeaning = document.getElementById("crowd-each"), choice = document.getElementById("which-crowd");
const DURATION = 420; // milliseconds of a movement
const still = matchMedia("(prefers-reduced-motion: reduce)");
const stamps = new Map();
const crowds = new Map(); // counted crowds of candidates, by their id
let colourOf = null, from = null, now = null, to = null, began = 0, frame = null, crowd = null, pointed = -1, candidate = null, showsCandidate = false;

/** The colours of the limits: enough has that of the verdict, a yes or a yes on conditions. */
const coloursByKind = () => ({ [ALONE]: "--no-dot", [SMALL]: "--no-dot2", [CROWD]: showsCandidate && candidate?.stands === "if" ? "--if-dot" : "--yes-dot" });
function colours() {
  const style = getComputedStyle(canvas);
  return Object.fromEntries(Object.entries(coloursByKind()).map(([kind, name]) => [kind, style.getPropertyValue(name).trim() || "#888"]));
}

/** Fit the canvas to its place and the pixels of the screen; returns half its width. */
function fit() {
  const side = Math.min(canvas.clientWidth, canvas.clientHeight), scale = Math.min(2, devicePixelRatio || 1);
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
  for (const kind of [CROWD, SMALL, ALONE]) {
    for (let mark = 0; mark < now.x.length; mark += 1) {
      if (to.kind[mark] !== kind || !now.radius[mark]) continue;
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
  colourOf = null;
  stamps.clear();
  moveTo(layout(crowd.marks, crowd.limits.class_size));
  describe();
}

/** Describe the drawing in numbers, which add up to everybody, and in words. */
function describe() {
  const least = crowd.limits.class_size, found = peopleByLimit(crowd.sizes, crowd.counts, least), colour = coloursByKind();
  const lines = [[ALONE, found.alone, "look like nobody else"], [SMALL, found.few, `look like 1 to ${count(Math.max(1, least - 2))} others: fewer than the limit asks`], [CROWD, found.enough, `look like ${count(least - 1)} others or more`]];
  legend.replaceChildren(...lines.map(([kind, people, what]) => {
    const line = make("li", { "data-kind": String(kind) }, make("b", {}, count(people)), what);
    line.style.setProperty("--dot", `var(${colour[kind]})`);
    return line;
  }), ...(crowd.left_out ? [make("li", { class: "gone" }, make("b", {}, count(crowd.left_out)), "are left out")] : []));
  words.textContent = crowd.sentence;
  canvas.setAttribute("aria-label", `${count(crowd.people)} people in ${count(crowd.classes)} classes: ${lines.map(([, people, what]) => `${count(people)} ${what}`).join(", ")}. Left and Right choose another person.`);
  markMeaning.textContent = { person: "One dot is one person.", class: "One dot is people who look alike.", share: `One dot is about ${Number((crowd.people / crowd.marks.size.length).toPrecision(2)).toLocaleString("en-US")} people.` }[crowd.marks.each];
}

const countRequest = requestCounter();
/** Show the crowd of the original, or that of the candidate, which is counted once. */
async function showCrowd(ofCandidate) {
  const isNewest = countRequest();
  try {
    if (ofCandidate && !crowds.has(candidate.id)) crowds.set(candidate.id, await api("POST", `/tables/${table}/crowd`, { candidate: candidate.id }));
    if (!isNewest()) return;
    showsCandidate = ofCandidate;
    crowd = ofCandidate ? crowds.get(candidate.id) : bench.counts;
  } catch (error) { showProblem(error); return; }
  for (const button of choice.children) button.setAttribute("aria-pressed", String((button.dataset.crowd === "candidate") === showsCandidate));
  canvas.dataset.people = crowd ? String(crowd.people) : "";
  canvas.dataset.of = showsCandidate ? candidate.id : "original";
  pointed = -1;
  arrange();
}
choice.addEventListener("click", (event) => { const button = event.target.closest("button"); if (button) showCrowd(button.dataset.crowd === "candidate"); });
document.addEventListener("current-candidate", ({ detail }) => {
  const next = detail && !detail.question_changed ? detail : null, changed = next?.id !== candidate?.id || next?.stands !== candidate?.stands;
  candidate = next;
  choice.hidden = !candidate;
  if (changed && showsCandidate) showCrowd(candidate !== null);
});

/** What a dot stands for: one person, or people who are alike or alone. */
export function dotInWords(size, people) {
  const alike = size === 1 ? "nobody else" : size === 2 ? "1 other" : `${count(size - 1)} others`;
  return people === 1 ? `looks like ${alike}` : `${count(people)} people, each looks like ${alike}`;
}

/** The mark under the pointer. */
function markAt(event) {
  if (!now) return -1;
  const half = Math.min(canvas.clientWidth, canvas.clientHeight) / 2, reach = 0.95 * half;
  const x = (event.offsetX - canvas.clientWidth / 2) / reach, y = (event.offsetY - canvas.clientHeight / 2) / reach;
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
  canvas.title = mark < 0 ? "" : dotInWords(crowd.marks.size[mark], crowd.marks.people[mark]);
  if (frame === null) paint();
});
canvas.addEventListener("pointerleave", () => { pointed = -1; if (frame === null) paint(); });
const isEachPerson = () => crowd?.marks.each === "person" && crowd.people + (crowd.left_out ?? 0) === bench.info.rows;
canvas.addEventListener("click", (event) => {
  const mark = markAt(event);
  if (mark >= 0 && isEachPerson()) showPerson(mark);
});
canvas.addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (event.key === " " && candidate) showCrowd(!showsCandidate);
  else if (by && isEachPerson()) {
    pointed = (pointed + by + now.x.length) % now.x.length;
    paint();
    showPerson(pointed, false, { focus: false });
  } else return;
  event.preventDefault();
});

document.getElementById("theme")?.addEventListener("click", () => requestAnimationFrame(recolour));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => requestAnimationFrame(recolour));
new ResizeObserver(() => paint()).observe(canvas);
onChange("counted", () => {
  canvas.parentElement.classList.toggle("fading", Boolean(bench.isCounting));
  if (!bench.isCounting) { crowds.clear(); showCrowd(false); }
});
export const redraw = () => paint();
