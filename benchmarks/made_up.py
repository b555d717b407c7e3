"""Makes texts of invented words for the benchmarks: clusters like news, and books with chapters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from dpplearn.summarize import Cluster, Document

CLUSTER_WORDS = 4_000
BOOK_WORDS = 30_000
CHAPTER = 250  # sentences


def made_up_cluster(seed: int, sentences: int = 250, documents: int = 10) -> Cluster:
    """A cluster like news: documents that share a topic, and four references of sentences drawn from them."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, CLUSTER_WORDS + 1)
    names = np.array(["".join(rng.choice(list("abdefgiklmnoprstuv"), 3 + w % 7)) for w in range(CLUSTER_WORDS)])
    topic = rng.choice(CLUSTER_WORDS, 120, replace=False)

    def sentence() -> str:
        size = int(rng.integers(8, 34))
        common = rng.choice(CLUSTER_WORDS, size, p=frequency / frequency.sum())
        words = names[np.where(rng.random(size) < 0.25, rng.choice(topic, size), common)]
        return " ".join(words).capitalize() + "."

    texts = [[sentence() for _ in range(sentences // documents)] for _ in range(documents)]
    flat = [line for text in texts for line in text]
    references = ["\n".join(rng.choice(flat, 5, replace=False)) for _ in range(4)]
    return Cluster([Document(str(d), " ".join(text)) for d, text in enumerate(texts)], references, id=f"made-up-{seed}")


def made_up_book(sentences: int, seed: int = 0) -> str:
    """A text of this many sentences, whose word frequencies follow Zipf's law.

    Each chapter has themes: words that recur in it. Some themes return in later chapters, and one belongs to the whole
    book, so that some sentences are more central than others.
    """
    rng = np.random.default_rng(seed)
    syllables = np.array([a + b for a in "bdfgklmnprstv" for b in "aeiou"])
    names = np.array(["".join(rng.choice(syllables, 1 + (w > 60) + w % 3)) for w in range(BOOK_WORDS)])
    zipf = np.cumsum(1.0 / np.arange(1, BOOK_WORDS + 1))
    themes = rng.integers(200, BOOK_WORDS, (max(sentences // (2 * CHAPTER), 1) + 1, 60))  # the first: the whole book's

    def drawn(size: int) -> np.ndarray:
        return np.searchsorted(zipf, rng.random(size) * zipf[-1])

    lines: list[str] = []
    for done in range(0, sentences, CHAPTER):
        lines.append(f"# {names[drawn(3)].tolist()[0].capitalize()} {done // CHAPTER + 1}\n")
        chapter_words = themes[[0, rng.integers(len(themes)), rng.integers(len(themes))]].ravel()
        paragraph: list[str] = []
        for left in range(min(CHAPTER, sentences - done), 0, -1):
            size = int(np.clip(rng.lognormal(2.85, 0.5), 4, 60))
            themed = rng.random(size) < rng.beta(1.0, 5.0)
            words = names[np.where(themed, rng.choice(chapter_words, size), drawn(size))]
            paragraph.append(" ".join(words).capitalize() + ".")
            if rng.random() < 0.2 or left == 1:
                lines.append(" ".join(paragraph) + "\n")
                paragraph = []
    return "\n".join(lines)


def write_corpus(path: Path, clusters: Iterable[Cluster]) -> Path:
    """Write clusters as JSON Lines, as `dpplearn` reads them."""
    with path.open("w", encoding="utf-8") as file:
        for cluster in clusters:
            documents = [{"id": d.id, "text": d.text} for d in cluster.documents]
            record = {"id": cluster.id, "documents": documents, "references": list(cluster.references)}
            file.write(json.dumps(record) + "\n")
    return path
