// Places words on the map, near the sentences that contain them.

const MOST = 8; // words on the map
const FEWEST = 2; // sentences that contain a word
const NARROW = 0.75; // largest spread of these sentences, relative to that of all sentences
const WHOLE = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}'’.-]+$/u; // scripts with spaces between words

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The middle of points, and how far they lie from it (the root of the mean square). */
function middle(points) {
  const [x, y] = [mean(points.map((p) => p[0])), mean(points.map((p) => p[1]))];
  return { x, y, radius: Math.sqrt(mean(points.map((p) => (p[0] - x) ** 2 + (p[1] - y) ** 2))) };
}

function says(word) {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(WHOLE.test(word) ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped, "iu");
}

/** The words of most weight whose sentences lie near each other, placed in their middle without overlaps. */
export function placed(words, sentences, at, { width, height, size }) {
  const all = middle(sentences.map(at)).radius || 1;
  const shown = [];
  for (const word of words) {
    const pattern = says(word);
    const points = sentences.filter(({ text }) => pattern.test(text)).map(at);
    if (shown.length === MOST || points.length < FEWEST) continue;
    const { x, y, radius } = middle(points);
    if (radius > NARROW * all) continue;
    const half = Math.min(width / 2, [...word].length * size * (WHOLE.test(word) ? 0.31 : 0.5) + 3);
    const one = { word, half, x: Math.min(Math.max(x, half), width - half), y: Math.min(Math.max(y, size), height - 4) };
    if (shown.every((other) => Math.abs(other.x - one.x) > other.half + half || Math.abs(other.y - one.y) > 1.4 * size)) {
      shown.push(one);
    }
  }
  return shown;
}
