// Light, dark, or as the system says; the choice is remembered where the browser allows it.

import { read, write } from "./session.js";

const WORDS = { system: "as the system", light: "light", dark: "dark" };
const ORDER = Object.keys(WORDS);

export function listenTheme(button) {
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.title = `Theme: ${WORDS[theme]}`;
    button.setAttribute("aria-label", button.title);
  };
  const before = read("theme", "localStorage");
  apply(ORDER.includes(before) ? before : "system");
  button.addEventListener("click", () => {
    const theme = ORDER[(ORDER.indexOf(document.documentElement.dataset.theme) + 1) % ORDER.length];
    apply(theme);
    write("theme", theme, "localStorage");
  });
}
