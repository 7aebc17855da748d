// The colours of class sizes in the Risk chart: by the limit of the recipient, as the crowd has them.

/** Let the bars of a chart of class sizes say which classes are below `size`, the smallest class that is accepted. */
export function colourByLimit(spec, size) {
  const alone = "nobody else", few = `fewer than ${size}`, partly = "partly fewer", enough = `${size} or more`;
  const charts = [spec, ...(spec?.layer ?? [])].filter(Boolean), rows = charts.flatMap(({ data }) => data?.values ?? []);
  for (const row of rows.filter(({ crowd }) => crowd)) {
    const high = Number(row.size.split("–").at(-1).replace(/[,+]/g, "")), isOpen = row.size.endsWith("+");
    row.crowd = row.low >= size ? enough : row.low === 1 ? alone : high >= size || isOpen ? partly : few;
  }
  for (const { encoding } of charts) {
    const scale = encoding?.color?.scale;
    if (scale?.range?.length === 3) Object.assign(scale, { domain: [alone, few, partly, enough].filter((name) => rows.some(({ crowd }) => crowd === name)) }, { range: rangeOf(scale.range, rows, [alone, few, partly, enough]) });
  }
}

/** The colours of the kinds of classes that there are; classes that are partly too small have the colour of those too small. */
const rangeOf = ([red, orange, blue], rows, kinds) => [red, orange, orange, blue].filter((_, place) => rows.some(({ crowd }) => crowd === kinds[place]));
