"""dpplearn warm: compile every loop once, as for a container's image."""

import warnings
from collections.abc import Callable, Iterator
from time import monotonic

import click
import numpy as np

from dpplearn._numba import compiled_always, folders
from dpplearn._run.notice import say_when_compiling
from dpplearn.cli import say
from dpplearn.cli.bars import bars

Call = Callable[[], object]


@click.command(name="warm")
def command() -> None:
    """Compile every loop that is not on disk yet, so that no later process waits for a compiler.

    It makes small calls of each kind. NUMBA_CACHE_DIR names the folder in which compiled loops are kept.
    """
    before, start = kept(), monotonic()
    with bars() as progress, say_when_compiling(lambda: None), compiled_always(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits to made-up data
        parts = [part for make in (sampling, decoding, fields, learning, texts) for part in make()]
        for done, (what, call) in enumerate(parts):
            progress.stage(f"Compiling: {what}", done, len(parts))
            call()
    new = len(kept() - before)
    say(f"Compiled {new} loops in {monotonic() - start:.0f} s; {len(before)} were there. They are in {folders()[0]}.")


def kept() -> set[str]:
    """The names of compiled loops on disk."""
    return {file.name for folder in folders() for file in folder.glob("*.zip")}


def sampling() -> Iterator[tuple[str, Call]]:
    from dpplearn.dpp import DPP
    from dpplearn.implicit import ImplicitDPP
    from dpplearn.kdpp import KDPP
    from dpplearn.lowrank import LowRankDPP
    from dpplearn.nonsymmetric import NonsymmetricDPP

    X = np.random.default_rng(0).normal(size=(30, 4))
    skew = NonsymmetricDPP(X / 4, X[::-1] / 4, X[:4])
    for dpp in (DPP(X @ X.T + np.eye(30)), LowRankDPP(X)):
        for one in (dpp, KDPP(dpp, 3)):
            for size in (1, 100):
                yield f"{type(one).__name__}.sample", lambda one=one, size=size: one.sample(size, rng=0)
        yield "log_prob", lambda dpp=dpp: (dpp.log_prob([0, 1]), dpp.log_prob(dpp.sample(9, rng=0)))
        yield "marginals of a k-DPP", lambda dpp=dpp: KDPP(dpp, 3).marginals
    yield "a Markov chain of rows", lambda: ImplicitDPP(X).sample(2, rng=0)
    yield "a Markov chain of a function", lambda: ImplicitDPP(lambda i, j: float(X[i] @ X[j]), 30).sample(2, rng=0)
    yield "a Markov chain of a kernel", lambda: DPP(X @ X.T + np.eye(30)).sample(2, rng=0, method="mcmc")
    yield "sampling by elimination", lambda: DPP(X @ X.T).sample(2, rng=0, method="cholesky")
    yield "nonsymmetric, by elimination", lambda: skew.sample(2, rng=0, method="elimination")
    yield "NonsymmetricDPP.sample", lambda: skew.sample(2, rng=0)
    yield "nonsymmetric log_prob", lambda: (skew.log_prob([0, 1]), skew.log_prob(skew.sample(9, rng=0)))
    yield "entropy", lambda: DPP(X[:6] @ X[:6].T).entropy()


def decoding() -> Iterator[tuple[str, Call]]:
    from dpplearn.decoding import diversify, exact_map, sampled_map
    from dpplearn.dpp import DPP

    X = np.random.default_rng(0).normal(size=(12, 4))
    dpp = DPP(X @ X.T + np.eye(12))
    for dtype in (np.float32, np.float64):
        yield "lengths of many rows", lambda dtype=dtype: diversify(np.ones((4_100_000, 1), dtype), k=1)
    yield "exact_map", lambda: exact_map(dpp, k=4)
    yield "exact_map with groups", lambda: exact_map(dpp, k=4, groups=np.arange(12) % 3, max_per_group=2)
    yield "sampled_map", lambda: sampled_map(dpp, k=4, n_samples=9, rng=0)


def fields() -> Iterator[tuple[str, Call]]:
    from dpplearn.mrf import PairwiseMRF, approximate

    field = PairwiseMRF(np.zeros(3), -np.ones((3, 3)) + np.eye(3))
    yield "Markov random fields", lambda: approximate(field, "gibbs", chains=9, sweeps=9).best_set(9)


def learning() -> Iterator[tuple[str, Call]]:
    from dpplearn.learning import ConditionalDPP, ItemSet, KernelDPP

    rng = np.random.default_rng(0)
    items = [ItemSet(F, phi=P) for F, P in zip(rng.normal(size=(6, 8, 2)), rng.normal(size=(6, 8, 3)), strict=True)]
    chosen = [np.array([i % 4, 5]) for i in range(6)]
    baskets = [[f"item {i}" for i in np.unique(rng.integers(0, 9, 3))] for _ in range(40)]
    yield "ConditionalDPP", lambda: ConditionalDPP().fit(items, chosen)
    yield "a learned similarity", lambda: ConditionalDPP(similarity="mixture").fit(items, chosen)
    for skew in (False, True):
        yield "KernelDPP", lambda skew=skew: KernelDPP(rank=3, nonsymmetric=skew, max_iter=2).fit(baskets)


def texts() -> Iterator[tuple[str, Call]]:
    from dpplearn.rouge import score
    from dpplearn.summarize import Cluster, Summarizer

    model = Summarizer.load()
    pair = [Cluster.from_texts([text]) for text in ("A storm hit the coast.", "A storm hit. Schools stay closed.")]
    yield "ROUGE", lambda: score("A cat sat.", ["Cats sit."], metrics=("rouge-l", "rouge-w-1.2"))
    for cluster in (Cluster.example(), *pair):  # arrays of one row have a memory layout of their own
        for decoder in ("greedy", "consensus", "sampled"):
            yield f"summaries, {decoder}", lambda c=cluster, d=decoder: model.summarize(c, 100, decoder=d)
