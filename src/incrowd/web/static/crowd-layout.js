// The layout of the crowd: positions of marks, with the largest classes in the middle and unique people at the rim. Nothing is drawn here.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const GAP = 0.05; // between the zones of large classes, small classes and unique people
const LARGEST = 0.035; // radius of the mark of a person
export const ALONE = 0, SMALL = 1, CROWD = 2;

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

/** Positions in a circle of radius 1, the radius of each mark, and its kind: unique, in a class below `least`, in a larger one. */
export function layout(marks, least) {
  const groups = groupsOf(marks).filter((group) => group.people), count = marks.size.length;
  groups.sort((a, b) => b.size - a.size || a.marks[0] - b.marks[0]);
  const zone = ({ size }) => (size >= least ? CROWD : size > 1 ? SMALL : ALONE);
  const total = marks.people.reduce((sum, one) => sum + one, 0), edges = zoneEdges(groups, zone, total);
  const x = new Float32Array(count), y = new Float32Array(count), radius = new Float32Array(count), kind = new Uint8Array(count); // who was left out has no size
  let before = 0;
  groups.forEach((group, rank) => {
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
      kind[mark] = zone(group);
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

/** People who are alone, who look like too few, and who look like enough: classes by the smallest that is accepted. */
export function peopleByLimit(sizes, counts, least) {
  const found = { alone: 0, few: 0, enough: 0 };
  sizes.forEach((size, place) => { found[size >= least ? "enough" : size > 1 ? "few" : "alone"] += size * counts[place]; });
  return found;
}
