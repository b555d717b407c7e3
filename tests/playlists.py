"""Made-up playlists as a new user would have them: a table with categories, booleans and holes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpplearn import DPP

GENRES = ("electronic", "folk", "jazz", "pop", "rock")
LENGTHS = ("short", "middle", "long")
TRUTH = {"tempo": 0.03, "jazz": 1.0, "explicit": -0.8, "length>=middle": 0.6}


def playlists(n_lists: int = 80, n: int = 12, seed: int = 0, holes: float = 0.05) -> dict[str, list[Any]]:
    """Columns, a row per song: fast songs and jazz are liked, and songs of one genre repel each other."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for t in range(n_lists):
        genre = rng.choice(GENRES, n, p=[0.1, 0.15, 0.15, 0.25, 0.35])
        tempo, explicit = rng.normal(120, 20, n), rng.random(n) < 0.3
        length = rng.choice(LENGTHS, n)
        eta = -1 + TRUTH["tempo"] * (tempo - 120) + TRUTH["jazz"] * (genre == "jazz") + TRUTH["explicit"] * explicit
        eta += TRUTH["length>=middle"] * (length != "short")
        S = 0.7 * (genre[:, None] == genre) + 0.3 * np.eye(n)
        kept = np.zeros(n, bool)
        kept[DPP.from_quality(np.exp(eta / 2), S).sample(1, rng=rng)[0]] = True
        gone = rng.random((n, 2)) < holes
        for i in range(n):
            known = (None if gone[i, 0] else str(genre[i]), None if gone[i, 1] else float(tempo[i]))
            rows.append((f"list {t}", *known, bool(explicit[i]), str(length[i]), bool(kept[i])))
    names = ("playlist", "genre", "tempo", "explicit", "length", "kept")
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
