"""Compares diversify with pyversity's DPP and MMR and LangChain's MMR, and measures it on a million items."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from benchmarks.timing import alternate, in_new_process, main
from dpplearn import diversify

D = 384
LANGCHAIN = find_spec("langchain_core") is not None


def candidates(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """float32 embeddings of n items around 50 topics, their cosines with a query, and the query."""
    rng = np.random.default_rng(seed)
    topics = rng.standard_normal((50, D), dtype=np.float32)
    E = rng.standard_normal((n, D), dtype=np.float32)
    E += topics[rng.integers(0, 50, n)]
    E /= np.linalg.norm(E, axis=1, keepdims=True)
    query = topics[:5].mean(axis=0)
    query /= np.linalg.norm(query)
    return E, E @ query, query


def repeated(call: Callable[[], object], times: int) -> Callable[[], object]:
    return lambda: [call() for _ in range(times)]


def rows_for(n: int, k: int, repeats: int) -> list[dict]:
    import pyversity

    E, scores, query = candidates(n)
    times = 100 if n <= 1000 else 1
    case = f"N = {n:,}, D = {D}, k = {k}, float32"
    rows = []

    def ours() -> np.ndarray:
        return diversify(E, scores, k).subset

    def compare(
        peer: str, call: Callable[[], object], target: float | None, repeats: int, ours: Callable[[], object] = ours
    ) -> None:
        ratio = alternate(repeated(ours, times), repeated(call, times), repeats, ours_count=times, peer_count=times)
        rows.append({"case": case, "peer": peer, **ratio, "target": target})

    peers_choice = pyversity.diversify(E, scores, k, strategy="dpp", diversity=0.5).indices
    assert np.isin(ours(), peers_choice).mean() > 0.9, "pyversity solves a different problem"
    compare(
        "pyversity 0.2.0 (DPP)",
        lambda: pyversity.diversify(E, scores, k, strategy="dpp", diversity=0.5),
        4.0 if n >= 10_000 and k == 50 else 1.0,
        repeats,
    )
    compare("pyversity 0.2.0 (MMR)", lambda: pyversity.diversify(E, scores, k, strategy="mmr"), None, repeats)
    if LANGCHAIN:
        from langchain_core.vectorstores.utils import maximal_marginal_relevance

        compare(
            "LangChain's maximal_marginal_relevance",
            lambda: maximal_marginal_relevance(query, E, lambda_mult=0.5, k=k),
            20.0 if n == 10_000 and k == 50 else None,
            repeats if n * k <= 100_000 else 2,
            lambda: diversify(E, E @ query, k),  # it computes the scores itself
        )
    return rows


MILLION = """
import json, time, numpy as np
from benchmarks.timing import peak_memory
from dpplearn import diversify
rng = np.random.default_rng(0)
warm = rng.standard_normal((200, {d}), dtype=np.float32)
diversify(warm, rng.random(200), {k})
E = rng.standard_normal(({n}, {d}), dtype=np.float32)
scores = rng.standard_normal({n})
before = peak_memory()
start = time.perf_counter()
subset = diversify(E, scores, {k}).subset
seconds = time.perf_counter() - start
assert len(subset) == {k}
print(json.dumps([seconds, (peak_memory() - before) / 2**20, E.nbytes / 2**20]))
"""


def million(n: int, k: int) -> list[dict]:
    seconds, extra, embeddings = in_new_process(MILLION.format(n=n, d=D, k=k))
    case = f"N = {n:,}, D = {D}, k = {k}, float32"
    return [
        {"case": f"{case}: time", "value": seconds, "unit": "s"},
        {"case": f"{case}: peak memory beside the {embeddings:,.0f} MiB of embeddings", "value": extra, "unit": "MiB"},
    ]


def run(quick: bool = False) -> dict:
    repeats = 3 if quick else 7
    rows = []
    for n in (100, 10_000) if quick else (100, 10_000, 100_000):
        for k in (10, 50):
            rows += rows_for(n, k, repeats)
    notes = [
        "All get the same embeddings around 50 topics, the same scores and the same diversity. LangChain's "
        "function gets the query instead of scores, so our time beside it includes computing the scores. It gets "
        "an array, which is faster for it than the lists that its signature names.",
        "At diversity 0.5, pyversity's DPP has the same weights and chooses the same items.",
    ]
    if not LANGCHAIN:
        notes.append(
            "langchain-core is not installed here, so that its rows are missing (make test-integrations installs it)."
        )
    figures = million(100_000 if quick else 1_000_000, 50)
    return {"name": "selection", "title": "Selection from scores and embeddings", "rows": rows, "figures": figures} | {
        "notes": notes
    }


if __name__ == "__main__":
    main(run)
