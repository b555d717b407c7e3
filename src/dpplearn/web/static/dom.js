// Makes elements and text. Everything from a document enters the page through `show`, as text only.

export const $ = (id) => document.getElementById(id);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element with attributes and children; a string child becomes a text node, never markup. */
export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

const SVG = "http://www.w3.org/2000/svg";
export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
export const icon = (name) => svg("svg", { "aria-hidden": "true" }, svg("use", { href: `#i-${name}` }));

// An override forces letters into another order ("gpj.exe" looks like "exe.jpg"), so its name is shown and it has no
// effect. Other bidirectional controls occur in honest text; isolation keeps them inside their own sentence.
const OVERRIDES = /([\u202d\u202e])/;
const OVERRIDE_NAMES = { "\u202d": "LRO", "\u202e": "RLO" };

/** Text of a document as nodes, with directional overrides made visible. */
export function textNodes(text) {
  return text.split(OVERRIDES).filter(Boolean).map((part) => {
    const name = OVERRIDE_NAMES[part];
    return name ? h("span", { class: "control-character", title: "directional override, shown and not obeyed" }, name)
      : document.createTextNode(part);
  });
}

/** Document text for an attribute, such as a label, without overrides. */
export const plain = (text) => text.replace(/[\u202d\u202e]/g, "");

/** Put document text into an element, isolated from the direction of the text around it. */
export function show(element, text) {
  element.replaceChildren(...textNodes(text));
  element.classList.add("isolated");
  return element;
}

export const bdi = (text) => show(document.createElement("bdi"), text);

/** Keep one child of `list` per key, in order, and reuse elements, so that focus and scroll survive an update. First
 * remove what is gone; then move only elements whose place has changed, because a moved element loses the focus. */
export function reconcile(list, items, key, create, update) {
  const kept = new Set(items.map((item) => String(key(item))));
  for (const child of [...list.children]) if (!kept.has(child.dataset.key)) child.remove();
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let at = list.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let child = known.get(name);
    if (!child) {
      child = create(item);
      child.dataset.key = name;
    }
    update(child, item);
    if (child === at) at = at.nextElementSibling;
    else list.insertBefore(child, at);
  }
}

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
