"""A book of invented words: chapters on topics of their own, paragraphs, sentences as long as people's."""

from __future__ import annotations

import numpy as np

WORDS = 30_000
CHAPTER = 250  # sentences


def made_up_book(sentences: int, seed: int = 0) -> str:
    """A text of so many sentences whose words are as frequent as Zipf says.

    Chapters have themes, words that recur in them; some themes come back in later chapters, and a few belong to the
    whole book, so that its sentences differ in how central they are.
    """
    rng = np.random.default_rng(seed)
    syllables = np.array([a + b for a in "bdfgklmnprstv" for b in "aeiou"])
    names = np.array(["".join(rng.choice(syllables, 1 + (w > 60) + w % 3)) for w in range(WORDS)])
    zipf = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    themes = rng.integers(200, WORDS, (max(sentences // (2 * CHAPTER), 1) + 1, 60))  # the first is the book's

    def drawn(size: int) -> np.ndarray:
        return np.searchsorted(zipf, rng.random(size) * zipf[-1])

    lines: list[str] = []
    for done in range(0, sentences, CHAPTER):
        lines.append(f"# {names[drawn(3)].tolist()[0].capitalize()} {done // CHAPTER + 1}\n")
        here = themes[[0, rng.integers(len(themes)), rng.integers(len(themes))]].ravel()
        paragraph: list[str] = []
        for left in range(min(CHAPTER, sentences - done), 0, -1):
            size = int(np.clip(rng.lognormal(2.85, 0.5), 4, 60))
            themed = rng.random(size) < rng.beta(1.0, 5.0)
            said = names[np.where(themed, rng.choice(here, size), drawn(size))]
            paragraph.append(" ".join(said).capitalize() + ".")
            if rng.random() < 0.2 or left == 1:
                lines.append(" ".join(paragraph) + "\n")
                paragraph = []
    return "\n".join(lines)
