// What the terms of a quality mean, for those who have not read how they are made. Names that are not known, such as
// those of a model of your own, stand as they are.

const PLAIN = {
  constant: "the same for every sentence",
  length: "how long it is",
  position: "its place in its document",
  similarity: "how much it is like the documents as a whole",
  lexrank: "how central it is among all sentences",
};
const STEP = /\b(\d+)\/(\d+)\b/;

/** A line on each kind of term among `names`, and on how their fractions read. */
export function explained(names) {
  const kinds = Object.entries(PLAIN).filter(([kind]) => names.some((name) => name.split(" ")[0] === kind));
  const lines = kinds.map(([kind, words]) => `${kind}: ${words}`);
  const [all, step, steps] = STEP.exec(names.find((name) => STEP.test(name)) ?? "") ?? [];
  if (all && lines.length) lines.push(`${all}: step ${step} of ${steps}, from low to high`);
  return lines;
}
