// A forecast without a table: measured points, pasted.
import { answersOf } from "./answers.js";
import { problem, resume, start } from "./app.js";
import { fill, populations } from "./slider.js";

const view = document.getElementById("view"), pasted = document.getElementById("pasted");
answersOf("points", view, { shown: () => fill(view) });

/** One point a line; what is wrong is said with its line. */
function read(text) {
  const points = [];
  text.split(/\r?\n/).forEach((line, index) => {
    const parts = line.trim().split(/[;,\t ]+/).filter(Boolean);
    if (!parts.length || !/^[\d.]/.test(parts[0])) return;
    const people = Number(parts[0]), share = parts[1]?.endsWith("%") ? Number(parts[1].slice(0, -1)) / 100 : Number(parts[1]);
    if (!Number.isInteger(people) || people < 1) throw new Error(`Line ${index + 1}: the first number must be whole people, written without separators.`);
    if (!(share >= 0 && share <= 1)) throw new Error(`Line ${index + 1}: the second number must be a share from 0 to 1, or a percentage.`);
    points.push({ n: people, correctness: share });
  });
  if (points.length < 2) throw new Error("Two points at least are needed: people and share, one point a line.");
  return points;
}

document.getElementById("points").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await start("/forecasts", { points: read(pasted.value), at: populations() });
  } catch (error) { problem(error); }
});
document.getElementById("example").addEventListener("click", () => {
  pasted.value = "people, found\n100, 0.993\n1000, 0.968\n10000, 0.912\n100000, 0.815";
  pasted.focus();
});
try { await resume(); } catch (error) { problem(error); }
for (const button of document.querySelectorAll("button[type=submit]")) button.disabled = false; // they work from now on
