// The dialog for the token of a server that others can reach; the tab keeps the token until it is closed.

import { $ } from "./dom.js";
import { read, write } from "./session.js";

let token = read("token");
let asking = null;

/** The header with the token, if there is one. */
export const authorization = () => (token ? { Authorization: `Bearer ${token}` } : {});

/** Ask for a token after the server refused `sent`; return whether there is another one to try. */
export async function askToken(sent) {
  if (sent.Authorization === authorization().Authorization) await (asking ??= ask(token).finally(() => (asking = null)));
  return token !== null;
}

function ask(refused) {
  const dialog = $("token");
  $("token-problem").hidden = !refused;
  $("token-text").value = dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    write("token", (token = dialog.returnValue || null));
    resolve();
  }, { once: true }));
}

$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  $("token").close($("token-text").value.trim());
});
$("token-cancel").addEventListener("click", () => $("token").close(""));
