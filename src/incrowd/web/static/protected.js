// A protected table in its place: go on with it, leave out what tells people apart, make it again once it is outdated.
import { api, problem } from "./app.js";
import { keep } from "./bench.js";
import { solve } from "./protect.js";

/** `again` protects the table as its settings are now. */
export function protectedTable(place, again) {
  place.addEventListener("click", async (event) => {
    const button = event.target.closest("button.apply, button.drop, button.renew, button.solve");
    if (!button) return;
    button.disabled = true;
    try {
      if (button.matches(".solve")) {
        await solve();
        button.disabled = false; // it may not have started: a field is wrong, or the settings are not kept
        return;
      }
      if (button.matches(".apply")) {
        location.href = `/tables/${(await api("POST", `/jobs/${place.dataset.job}/apply`)).id}/risk`;
        return;
      }
      if (button.matches(".drop")) {
        const { unchanged } = await api("GET", `/jobs/${place.dataset.job}/result`);
        await keep({ roles: Object.fromEntries(unchanged.filter((one) => one.nearly_unique).map((one) => [one.column, "identifier"])) });
      }
      await again();
    } catch (error) { problem(error); button.disabled = false; }
  });
}
