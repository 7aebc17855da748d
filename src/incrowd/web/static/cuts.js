// Cut points of a column: each begins a new range, and is used up to some level of the hierarchy.
const DAY = 86400000;

/** Read a point: a number, or a day such as 1980-01-31, as the number of days since 1970. */
export function readPoint(text, days) {
  const plain = text.trim(), number = days ? Date.parse(`${/^\d{4}-\d{2}-\d{2}$/.test(plain) ? plain : "?"}T00:00:00Z`) / DAY : Number(plain.replace(/[\s']/g, "") || NaN);
  if (!Number.isFinite(number)) throw new Error(`“${plain.slice(0, 20)}” is no ${days ? "day: write it such as 1980-01-31" : "number: write it such as 18 or 0.5"}.`);
  return number;
}
export const writePoint = (at, days) => (days ? new Date(Math.round(at) * DAY).toISOString().slice(0, 10) : String(Number(at.toPrecision(12))));

/** Read several points, separated by commas or blanks; each is used at level 1 only. */
export function readPoints(text, days) {
  const found = text.split(days ? /[,;\s]+/ : /[,;]\s*|\s+/).filter(Boolean).map((part) => ({ at: readPoint(part, days), until: 1 }));
  return sortCuts(found);
}

/** Sort the points; of two equal ones, the one that is used up to a higher level stays. */
export function sortCuts(cuts) {
  const last = new Map();
  for (const cut of cuts) last.set(cut.at, Math.max(cut.until, last.get(cut.at) ?? 0));
  return [...last].sort((a, b) => a[0] - b[0]).map(([at, until]) => ({ at, until }));
}

/** The points as a rule of the library: all of them at level 1, at each further level those that are used there. */
export function toRule(cuts, days) {
  const deepest = Math.max(0, ...cuts.map((cut) => cut.until)), levels = [];
  for (let level = 1; level <= deepest; level += 1) levels.push(cuts.filter((cut) => cut.until >= level).map((cut) => writePoint(cut.at, days)).join(","));
  return levels.length ? `cuts:${levels.join("/")}` : null;
}

export function fromRule(rule, days) {
  const levels = rule.slice("cuts:".length).split("/").map((level) => level.split(",").map((point) => readPoint(point, days)));
  return sortCuts(levels.flatMap((points, place) => points.map((at) => ({ at, until: place + 1 }))));
}

/** Move one point between its neighbours. `step` is the smallest distance to them. */
export function moveCut(cuts, place, at, step) {
  const low = place ? cuts[place - 1].at + step : -Infinity, high = place < cuts.length - 1 ? cuts[place + 1].at - step : Infinity;
  return cuts.map((cut, index) => (index === place ? { ...cut, at: Math.min(Math.max(at, low), high) } : cut));
}

/** Add a point in the middle of the widest range. */
export function addCut(cuts, low, high, snap) {
  const ends = [low, ...cuts.map((cut) => cut.at).filter((at) => at > low && at < high), high];
  let widest = 0;
  for (let place = 1; place < ends.length - 1; place += 1) if (ends[place + 1] - ends[place] > ends[widest + 1] - ends[widest]) widest = place;
  return sortCuts([...cuts, { at: snap((ends[widest] + ends[widest + 1]) / 2), until: 1 }]);
}

/** A function that rounds a position to a step, and a day to the first of the nearest month. */
export function snapper(step, days) {
  if (!days) return (at) => Number((Math.round(at / step) * step).toPrecision(12));
  return (at) => { const day = new Date(Math.round(at + 15) * DAY); return Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1) / DAY; };
}
