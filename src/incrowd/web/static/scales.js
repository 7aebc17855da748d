// The scales of measurement, and which of them several columns share.

export const SCALES = { nominal: "nominal: names or codes", ordered: "ordered", numeric: "numeric: a quantity", date: "date", place: "place: a code by its first letters" };

/** The stated scale of all columns: "" if none is stated, "mixed" if they differ, ordered levels with a "<" in front. */
export function sharedScale(columns) {
  const stated = new Set(columns.map((column) => column.scale_stated ?? ""));
  if (stated.size !== 1) return "mixed";
  const [only] = stated;
  return only.includes("<") ? `<${only}` : only;
}
