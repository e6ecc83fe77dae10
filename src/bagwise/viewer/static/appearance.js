// Light or dark: as the screen is, or as chosen here.

import { element } from "./words.js";

const NAME = "bagwise appearance";

export function startAppearance() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = localStorage.getItem(NAME) ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.appearance = chosen;
    element("theme").textContent = chosen === "dark" ? "Light" : "Dark";
  };
  dark.addEventListener("change", apply);
  element("theme").addEventListener("click", switchAppearance);
  apply();
  function switchAppearance() {
    localStorage.setItem(NAME, document.documentElement.dataset.appearance === "dark" ? "light" : "dark");
    apply();
  }
}
