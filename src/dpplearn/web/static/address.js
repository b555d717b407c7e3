// Keeps the settings in the address, to share or save. They follow the #, which browsers do not send; documents stay out.

import { state } from "./state.js";

const NUMBERS = ["budget", "diversity"];
const WORDS = ["unit", "decoder", "order", "about"];
const SWITCHES = ["compress"];

/** The valid settings in an address, or {}. */
export function fromAddress(hash = location.hash) {
  const given = new URLSearchParams(hash.slice(1));
  const found = {};
  for (const name of NUMBERS) if (given.has(name) && Number.isFinite(Number(given.get(name)))) found[name] = Number(given.get(name));
  for (const name of WORDS) if (given.has(name)) found[name] = given.get(name);
  for (const name of SWITCHES) if (given.get(name) === "yes") found[name] = true;
  return found;
}

/** Write the current settings to the address. */
export function toAddress() {
  const said = new URLSearchParams();
  for (const name of [...NUMBERS, ...WORDS]) if (state.options[name] || state.options[name] === 0) said.set(name, state.options[name]);
  for (const name of SWITCHES) if (state.options[name]) said.set(name, "yes");
  history.replaceState(null, "", `#${said}`);
}
