// The layout of the crowd: positions of marks, with the largest classes in the middle and unique people at the rim. Nothing is drawn here.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const GAP = 0.05; // between the zones of large classes, small classes and unique people
const LARGEST = 0.035; // radius of the mark of a person
export const ALONE = 0, SMALL = 1, CROWD = 2, JOINED = 3;

/** The marks of each class, by `class_of`; without it every mark is a group of its own. */
export function groupsOf(marks) {
  if (!marks.class_of) return marks.size.map((size, mark) => ({ size, people: marks.people[mark], marks: [mark] }));
  const found = new Map();
  marks.class_of.forEach((number, mark) => {
    if (!found.has(number)) found.set(number, { size: marks.size[mark], people: 0, marks: [] });
    const group = found.get(number);
    group.people += marks.people[mark];
    group.marks.push(mark);
  });
  return [...found.values()];
}

/** The classes after joining those of fewer than `k` people, one after the other, until each is large enough. */
export function join(groups, k) {
  const large = groups.filter((group) => group.size >= k), small = groups.filter((group) => group.size < k).sort((a, b) => b.size - a.size);
  const joined = [];
  for (const group of small) {
    const open = joined.at(-1);
    if (open && open.size < k) {
      open.size += group.people;
      open.people += group.people;
      open.marks.push(...group.marks);
    } else joined.push({ size: Math.max(group.size, group.people), people: group.people, marks: [...group.marks], joined: true });
  }
  const last = joined.at(-1);
  if (last && last.size < k) { // the last one is too small: add it to the one before, or to a large class
    joined.pop();
    const host = joined.at(-1) ?? large.at(-1);
    if (host) Object.assign(host, { size: host.size + last.people, people: host.people + last.people, marks: [...host.marks, ...last.marks] });
    else joined.push(last);
  }
  return [...large, ...joined];
}

/** Positions in a circle of radius 1, the radius of each mark, and its kind: unique, in a class below `enough`, in a larger one, joined. */
export function layout(marks, { k = 1, enough = 2 } = {}) {
  const groups = groupsOf(marks), count = marks.size.length, small = new Set();
  if (k > 1) groups.forEach((group) => { if (group.size < k) group.marks.forEach((mark) => small.add(mark)); });
  const made = k > 1 ? join(groups.map((group) => ({ ...group })), k) : groups;
  made.sort((a, b) => b.size - a.size || a.marks[0] - b.marks[0]);
  const zone = (group) => (group.size >= enough || group.joined ? CROWD : group.size > 1 ? SMALL : ALONE);
  const total = marks.people.reduce((sum, one) => sum + one, 0), edges = zoneEdges(made, zone, total);
  const x = new Float32Array(count), y = new Float32Array(count), radius = new Float32Array(count), kind = new Uint8Array(count);
  let before = 0;
  made.forEach((group, rank) => {
    const { room, gap, edge } = edges.get(zone(group)), angle = rank * GOLDEN, share = group.people / total;
    const far = room * Math.sqrt((before + group.people / 2) / total) + gap, centre = rank === 0 && share > 0.02 ? 0 : far;
    const spread = Math.sqrt(share) * room * (rank ? 0.92 : 1);
    group.marks.forEach((mark, place) => {
      const part = group.marks.length > 1 ? spread * Math.sqrt((place + 0.5) / group.marks.length) : 0, turn = place * GOLDEN;
      const right = centre * Math.cos(angle) + part * Math.cos(turn), down = centre * Math.sin(angle) + part * Math.sin(turn);
      const inside = Math.min(1, edge / Math.hypot(right, down || 1e-9)); // keep the mark inside its zone
      x[mark] = right * inside;
      y[mark] = down * inside;
      radius[mark] = Math.min(marks.class_of ? LARGEST : 1, 0.82 * Math.sqrt(marks.people[mark] / total) * room);
      kind[mark] = small.has(mark) ? JOINED : zone(group);
    });
    before += group.people;
  });
  return { x, y, radius, kind };
}

/** The outer edge of each zone: large classes, small classes, unique people; with gaps between them. */
function zoneEdges(groups, zone, total) {
  const people = new Map();
  for (const group of groups) people.set(zone(group), (people.get(zone(group)) ?? 0) + group.people);
  const room = 1 - GAP * (people.size - 1);
  let sum = 0, gap = -GAP;
  return new Map([...people].map(([name, some]) => {
    sum += some;
    gap += GAP;
    return [name, { room, gap, edge: room * Math.sqrt(sum / total) + gap }];
  }));
}

const BINS = [[1, 1], [2, 2], [3, 4], [5, 9], [10, 19], [20, 49], [50, Infinity]];

/** People by the size of their class, now and after joining classes of fewer than `k`: the drawing as a table. */
export function bins(sizes, counts, k) {
  const found = BINS.map(([low, high]) => ({ low, high, people: 0, after: 0 }));
  const of = (size) => found.find((bin) => size >= bin.low && size <= bin.high);
  sizes.forEach((size, place) => {
    of(size).people += size * counts[place];
    of(Math.max(size, k)).after += size * counts[place];
  });
  return found.map(({ low, high, people, after }) => ({ words: low === high ? `${low}` : high === Infinity ? `${low} or more` : `${low}–${high}`, people, after }));
}

/** People in classes of fewer than k. */
export const below = (sizes, counts, k) => sizes.reduce((sum, size, place) => sum + (size < k ? size * counts[place] : 0), 0);
