// A server that others can reach asks who uses it: the dialog for its token, which the tab keeps until it is closed.

import { $ } from "./dom.js";
import { read, write } from "./session.js";

let token = read("token");
let asking = null;

/** The header that says who we are, if we know. */
export const authorization = () => (token ? { Authorization: `Bearer ${token}` } : {});

/** Ask for the token that the server did not find in `sent`; whether there is another one to try. */
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
