"""Clusters of random sentences, for what must hold of any."""

import numpy as np

from dpplearn.summarize import Cluster

NOUNS = [
    "storm", "river", "bridge", "council", "school", "train", "harbour", "engine", "winter", "market", "doctor",
    "farmer", "island", "border",
]  # fmt: skip


def made_up(seed):
    """Documents of random sentences of one to twelve words, some of them twice."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 13, rng.integers(2, 25))
    sentences = [" ".join(rng.choice(NOUNS, size)).capitalize() + "." for size in lengths]
    sentences += [str(one) for one in rng.choice(sentences, rng.integers(0, 3))]
    parts = np.array_split(rng.permutation(sentences), rng.integers(1, 4))
    return Cluster.from_texts([" ".join(part) for part in parts if part.size])
