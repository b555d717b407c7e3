"""dpplearn warm: compile every loop once, as for a container's image."""

import warnings
from time import monotonic

import click
import numpy as np

from dpplearn._numba import compiled_always, folders
from dpplearn._run.notice import say_when_compiling
from dpplearn.cli import say
from dpplearn.cli.bars import bars


@click.command(name="warm")
def warm_command() -> None:
    """Compile every loop that is not on disk yet, so that no later process waits for a compiler.

    It makes small calls of each kind. NUMBA_CACHE_DIR names the folder in which compiled loops are kept.
    """
    before, start = kept(), monotonic()
    rooms = {"sampling": sampling, "decoding": decoding, "mrf": fields, "learning": learning, "summarize": texts}
    with bars() as progress, say_when_compiling(lambda: None), compiled_always(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits to made-up data
        for done, (room, call) in enumerate(rooms.items()):
            progress.stage(f"Compiling the loops of {room}", done, len(rooms))
            call()
    new = len(kept() - before)
    say(f"Compiled {new} loops in {monotonic() - start:.0f} s; {len(before)} were there. They are in {folders()[0]}.")


def kept() -> set[str]:
    """The names of compiled loops on disk."""
    return {file.name for folder in folders() for file in folder.glob("*.zip")}


def sampling() -> None:
    from dpplearn.dpp import DPP
    from dpplearn.implicit import ImplicitDPP
    from dpplearn.kdpp import KDPP
    from dpplearn.lowrank import LowRankDPP
    from dpplearn.nonsymmetric import NonsymmetricDPP

    X = np.random.default_rng(0).normal(size=(30, 4))
    dense, rows, skew = DPP(X @ X.T + np.eye(30)), LowRankDPP(X), NonsymmetricDPP(X / 4, X[::-1] / 4, X[:4])
    for dpp in (dense, rows):
        for size in (1, 100):  # one sample goes another way than many
            dpp.sample(size, rng=0)
            KDPP(dpp, 3).sample(size, rng=0)
        dpp.log_prob(dpp.sample(9, rng=0))
        _ = KDPP(dpp, 3).marginals
    for method in ("mcmc", "cholesky"):
        dense.sample(2, rng=0, method=method)
    ImplicitDPP(X).sample(2, rng=0)
    ImplicitDPP(lambda i, j: float(X[i] @ X[j]), 30).sample(2, rng=0)
    for method in ("jumps", "elimination"):
        skew.sample(2, rng=0, method=method)
    skew.log_prob([0, 1])
    skew.log_prob(skew.sample(9, rng=0))
    DPP(X[:6] @ X[:6].T).entropy()


def decoding() -> None:
    from dpplearn.decoding import exact_map, sampled_map
    from dpplearn.dpp import DPP

    X = np.random.default_rng(0).normal(size=(12, 4))
    dpp = DPP(X @ X.T + np.eye(12))
    exact_map(dpp, k=4)
    sampled_map(dpp, k=4, n_samples=9, rng=0)


def fields() -> None:
    from dpplearn.mrf import PairwiseMRF, approximate

    field = PairwiseMRF(np.zeros(3), -np.ones((3, 3)) + np.eye(3))
    approximate(field, "mean-field").best_set(9)
    approximate(field, "ais", chains=12, sweeps=9)


def learning() -> None:
    from dpplearn.baskets import KernelDPP
    from dpplearn.learning import ConditionalDPP, ItemSet

    rng = np.random.default_rng(0)
    items = [ItemSet(F, phi=P) for F, P in zip(rng.normal(size=(6, 8, 2)), rng.normal(size=(6, 8, 3)), strict=True)]
    for similarity in ("fixed", "mixture"):
        ConditionalDPP(similarity=similarity).fit(items, [np.array([i % 4, 5]) for i in range(6)])
    baskets = [[f"item {i}" for i in np.unique(rng.integers(0, 9, 3))] for _ in range(40)]
    for nonsymmetric in (False, True):
        KernelDPP(rank=3, nonsymmetric=nonsymmetric, max_iter=2).fit(baskets)


def texts() -> None:
    from dpplearn.rouge import score
    from dpplearn.summarize import Cluster, Summarizer

    model = Summarizer.load()
    few = [Cluster.from_texts([text]) for text in ("A storm hit the coast.", "A storm hit. Schools stay closed.")]
    for cluster in (Cluster.example(), *few):  # arrays of one row have a memory layout of their own
        for decoder in ("greedy", "consensus", "sampled"):
            model.summarize(cluster, 100, decoder=decoder)
    score("A cat sat.", ["Cats sit."], metrics=("rouge-l", "rouge-w-1.2"))
