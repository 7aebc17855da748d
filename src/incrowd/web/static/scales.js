// The scales of measurement, and which of them several columns share.

export const SCALES = { nominal: "nominal: names or codes", ordered: "ordered", numeric: "numeric: a quantity", date: "date", place: "place: a code by its first letters" };

/** What was stated of all columns: a scale, "" where nothing was, "mixed" where they differ, and levels after a "<". */
export function sharedScale(columns) {
  const stated = new Set(columns.map((column) => column.scale_stated ?? ""));
  if (stated.size !== 1) return "mixed";
  const [only] = stated;
  return only.includes("<") ? `<${only}` : only;
}
