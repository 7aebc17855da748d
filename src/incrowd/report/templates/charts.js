"use strict";
// Draws every figure of the page from the specifications it holds. Nothing is fetched: there is no network here.
(function () {
  const specs = JSON.parse(document.getElementById("figures").textContent);
  const config = {
    font: "system-ui, sans-serif", background: "transparent",
    view: { stroke: null },
    axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, labelLimit: 240 },
    legend: { labelFontSize: 12, titleFontSize: 12, orient: "top", labelLimit: 300 },
    range: { category: ["#2f6db5", "#d9822b", "#3c8d5a", "#c23b3b", "#7a5ea8", "#8c6d4f", "#8a8f98"] },
  };
  const options = { actions: false, renderer: "svg", ast: true, config, mode: "vega-lite", loader: { load: refuse } };
  function refuse() { return Promise.reject(new Error("this page loads nothing")); }
  const drawn = Object.entries(specs).map(([name, spec]) => {
    const place = document.getElementById("figure-" + name);
    return place ? vegaEmbed(place, spec, options).then(
      () => { place.dataset.drawn = "yes"; },
      () => { place.dataset.drawn = "no"; place.textContent = "The figure could not be drawn; its numbers are in the table below."; },
    ) : null;
  });
  Promise.all(drawn).then(() => { document.documentElement.dataset.ready = "yes"; });
  const folds = () => document.querySelectorAll("details");
  let open = [];
  window.addEventListener("beforeprint", () => { open = [...folds()].filter((one) => one.open); folds().forEach((one) => { one.open = true; }); });
  window.addEventListener("afterprint", () => { folds().forEach((one) => { one.open = open.includes(one); }); });
})();
