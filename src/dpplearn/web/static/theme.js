// Light, dark, or as the system says; the choice is remembered where the browser allows it.

const ORDER = ["system", "light", "dark"];
const WORDS = { system: "as the system", light: "light", dark: "dark" };

function stored() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // storage is switched off
  }
}

export function listenTheme(button) {
  let theme = ORDER.includes(stored()) ? stored() : "system";
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.setAttribute("aria-label", `Theme: ${WORDS[theme]}`);
    button.title = `Theme: ${WORDS[theme]}`;
  };
  apply();
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    apply();
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // storage is switched off: the choice lasts as long as the page
    }
  });
}
