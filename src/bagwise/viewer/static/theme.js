// Light or dark theme: the theme of the system, unless another is chosen on the page.

import { element } from "./dom.js";

const STORAGE_KEY = "bagwise appearance";

export function initTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const theme = localStorage.getItem(STORAGE_KEY) ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    element("theme").textContent = theme === "dark" ? "Light theme" : "Dark theme";
  };
  dark.addEventListener("change", apply);
  element("theme").addEventListener("click", () => {
    localStorage.setItem(STORAGE_KEY, document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}
