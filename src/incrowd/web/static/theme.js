"use strict";
// Light or dark colours: those of the system unless the user has chosen. Runs before the page is painted.
(function () {
  const kept = () => { try { return localStorage.getItem("incrowd-theme"); } catch { return null; } };
  const media = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (kept() || (media.matches ? "dark" : "light")) === "dark";
  function show() {
    const dark = isDark(), sheet = document.getElementById("dark"), button = document.getElementById("theme");
    sheet.media = kept() ? (dark ? "screen" : "not all") : "screen and (prefers-color-scheme: dark)";
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    if (button) button.textContent = dark ? "Light" : "Dark";
  }
  show();
  media.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme")?.addEventListener("click", () => {
      try { localStorage.setItem("incrowd-theme", isDark() ? "light" : "dark"); } catch { return; }
      show();
    });
  });
})();
