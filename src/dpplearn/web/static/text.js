// Helpers for counts and words. Offsets of the API count Unicode code points; JavaScript's strings count UTF-16 units.

/** A function from code-point offsets, passed in ascending order, to offsets in the string. */
export function codePointOffsets(text) {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return (offset) => offset;
  let points = 0;
  let units = 0;
  return (offset) => {
    if (offset < points) points = units = 0;
    for (; points < offset && units < text.length; points++) units += text.codePointAt(units) > 0xffff ? 2 : 1;
    return units;
  };
}

const RIGHT_TO_LEFT = /^(?:[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\ud802|\ud803|\ud83a)/;

/** The direction of a text, given by its first letter, as in the Unicode bidirectional algorithm. */
export const direction = (text) => (RIGHT_TO_LEFT.test(/\p{L}/u.exec(text)?.[0] ?? "") ? "rtl" : "ltr");

export const number = (x, digits = 0) =>
  x.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });

export const percent = (p) => (p > 0 && p < 0.005 ? "under 1%" : `${Math.round(100 * p)}%`);

export const signed = (x) => `${Math.abs(x) < 0.005 ? "" : x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** A length in a unit of the API, all of which are plurals: "1 word", "20 words". */
export const measured = (x, unit) => `${number(x)} ${x === 1 ? unit.slice(0, -1) : unit}`;

export function shorten(text, length = 90) {
  const points = Array.from(text.slice(0, 2 * length + 2));
  return points.length <= length ? text : `${points.slice(0, length - 1).join("").trimEnd()}…`;
}

export const words = (text) => (text.match(/\S+/g) || []).length;

/** A lone half of a surrogate pair is not text that UTF-8 can carry. */
export const wellFormed = (text) => (text.toWellFormed ? text.toWellFormed() : text);

export function size(bytes) {
  if (bytes < 1000) return plural(bytes, "byte");
  return bytes < 1e6 ? `${number(bytes / 1e3, bytes < 1e4 ? 1 : 0)} KB` : `${number(bytes / 1e6, 1)} MB`;
}

export const narrow = () => matchMedia("(max-width: 719px)").matches;

export const nameOf = (document, index) => document.title || document.id || `Document ${index + 1}`;
