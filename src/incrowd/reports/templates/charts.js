"use strict";
// Draws the figures of a page from the specifications it holds. Nothing is fetched, nothing is evaluated, and every style
// is set by the page's own sheet, so that it works under the strictest policy.
window.drawFigures = (function () {
  const config = {
    font: "system-ui, sans-serif", background: "transparent",
    view: { stroke: null },
    axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, labelLimit: 240, labelOverlap: true, labelSeparation: 6 },
    legend: { labelFontSize: 12, titleFontSize: 12, orient: "top", labelLimit: 300 },
    range: { category: ["#2f6db5", "#d9822b", "#3c8d5a", "#c23b3b", "#7a5ea8", "#8c6d4f", "#8a8f98"] },
  };
  const refuse = () => Promise.reject(new Error("this page loads nothing"));
  const options = {
    actions: false, renderer: "svg", ast: true, config, mode: "vega-lite", loader: { load: refuse },
    defaultStyle: false, tooltip: { disableDefaultStyle: true },
  };
  function draw(place, spec) {
    const narrow = place.clientWidth < 400;
    // a legend has as many columns as there is room for, and stands below another one
    const legend = { ...config.legend, columns: Math.max(1, Math.floor(place.clientWidth / 215)), layout: { top: { direction: "vertical", anchor: "start" } } };
    const x = spec.encoding && spec.encoding.x;
    const rows = spec.data?.values ?? spec.datasets?.[spec.data?.name] ?? [], long = 8 * [...new Set(rows.map((row) => row[x?.field]))].join("  ").length > place.clientWidth - 80;
    if (narrow && long && x && x.type === "nominal" && x.axis) Object.assign(x.axis, { labelAngle: -50, labelOverlap: false });
    return vegaEmbed(place, spec, { ...options, config: { ...config, legend } }).then(
      (made) => { place.dataset.drawn = "yes"; place.dispatchEvent(new CustomEvent("drawn", { bubbles: true, detail: made.view })); },
      () => { place.dataset.drawn = "no"; place.textContent = "The figure could not be drawn; its numbers are in the table below."; },
    );
  }
  return function (root) {
    const drawn = [];
    for (const block of root.querySelectorAll("script.figures")) {
      for (const [name, spec] of Object.entries(JSON.parse(block.textContent))) {
        const place = document.getElementById("figure-" + name);
        if (!place || place.dataset.drawn || !place.clientWidth || place.closest("details:not([open])")) continue; // drawn already, or folded away: later, once there is room
        place.dataset.drawn = "now";
        drawn.push(draw(place, spec));
      }
    }
    return Promise.all(drawn);
  };
})();
window.drawFigures(document).then(() => { document.documentElement.dataset.ready = "yes"; });
(function () {
  const folds = () => document.querySelectorAll("details");
  let open = [];
  window.addEventListener("beforeprint", () => { open = [...folds()].filter((one) => one.open); folds().forEach((one) => { one.open = true; }); });
  window.addEventListener("afterprint", () => { folds().forEach((one) => { one.open = open.includes(one); }); });
})();
