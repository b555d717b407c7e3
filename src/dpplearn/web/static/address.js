// The settings in the address, to share or to keep: after the #, which browsers do not send. No document is in it.

import { state } from "./state.js";

const NUMBERS = ["budget", "diversity"];
const WORDS = ["unit", "decoder", "order", "about"];
const SWITCHES = ["compress"];

/** The settings of an address, as far as they are such; {} where there are none. */
export function fromAddress(hash = location.hash) {
  const given = new URLSearchParams(hash.slice(1));
  const found = {};
  for (const name of NUMBERS) if (given.has(name) && Number.isFinite(Number(given.get(name)))) found[name] = Number(given.get(name));
  for (const name of WORDS) if (given.has(name)) found[name] = given.get(name);
  for (const name of SWITCHES) if (given.get(name) === "yes") found[name] = true;
  return found;
}

/** Let the address say what is set now. */
export function toAddress() {
  const said = new URLSearchParams();
  for (const name of [...NUMBERS, ...WORDS]) if (state.options[name] || state.options[name] === 0) said.set(name, state.options[name]);
  for (const name of SWITCHES) if (state.options[name]) said.set(name, "yes");
  history.replaceState(null, "", `#${said}`);
}
