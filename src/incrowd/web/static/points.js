// A forecast without a table: measured points, pasted.
import { answersOf } from "./answers.js";
import { problem, resume, start } from "./app.js";
import { points } from "./numbers.js";
import { fill, populations } from "./slider.js";

const view = document.getElementById("view"), pasted = document.getElementById("pasted");
answersOf("points", view, { shown: () => fill(view) });

document.getElementById("points").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await start("/forecasts", { points: points(pasted.value), at: populations() });
  } catch (error) { problem(error); }
});
document.getElementById("example").addEventListener("click", () => {
  pasted.value = "people, found\n100, 0.993\n1000, 0.968\n10000, 0.912\n100000, 0.815";
  pasted.focus();
});
try { await resume(); } catch (error) { problem(error); }
for (const button of document.querySelectorAll("button[type=submit]")) button.disabled = false; // they work from now on
