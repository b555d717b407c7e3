"""dpplearn warm: compiles every loop once, for example while a container image is built."""

import warnings
from collections.abc import Iterator
from time import monotonic

import click
import numpy as np

from dpplearn._numba import compiled_always, folder
from dpplearn._run.progress import say_when_compiling
from dpplearn.baskets import KernelDPP
from dpplearn.cli import say
from dpplearn.cli.bars import bars
from dpplearn.decoding import diversify, exact_map
from dpplearn.decoding.candidates import COMPILED_ENTRIES
from dpplearn.dpp import DPP
from dpplearn.kdpp import KDPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.mrf import PairwiseMRF, approximate
from dpplearn.rouge import score
from dpplearn.summarize import Cluster, Summarizer


@click.command(name="warm")
def warm_command() -> None:
    """Compile every loop that is not yet in the folder NUMBA_CACHE_DIR, so that no later process waits."""
    before, start = compiled_files(), monotonic()
    with bars() as progress, say_when_compiling(lambda: None), compiled_always(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits to made-up data need not converge
        for done, what in enumerate(small_calls()):
            progress.stage(f"Compiling the loops of {what}", done, 5)
    new = len(compiled_files() - before)
    say(f"Compiled {new} loops in {monotonic() - start:.0f} s; {len(before)} were there. They are in {folder()}.")


def compiled_files() -> set[str]:
    """The names of compiled loops on disk."""
    return {file.name for file in folder().rglob("*.nbc")}


def small_calls() -> Iterator[str]:
    """Make calls that together need every loop with every type of arguments; yields what the next calls are about."""
    yield "sampling"
    X = np.random.default_rng(0).normal(size=(12, 4))
    dense, rows = DPP(X @ X.T + np.eye(12)), LowRankDPP(X)
    for dpp in (dense, rows):
        dpp.log_prob(dpp.sample(9, rng=0))
        dpp.sample(rng=0)  # a single draw takes another path than many
    KDPP(dense, 3).sample(rng=0)
    dense.sample(rng=0, method="cholesky")
    yield "decoding"
    exact_map(dense, k=4)
    for dtype in (np.float32, np.float64):  # so many rows that a loop computes their lengths
        diversify(np.ones((COMPILED_ENTRIES // 4 + 1, 4), dtype), k=1)
    yield "Markov random fields"
    approximate(PairwiseMRF(np.zeros(3), -np.ones((3, 3)) + np.eye(3)), "mean-field")
    yield "baskets"
    KernelDPP(rank=3, max_iter=2).fit([["bib", "bottle"], ["bib", "cot"], ["cot", "pram"]] * 9)
    yield "summaries"
    Summarizer.load().summarize(Cluster.example(), decoder="sampled", n_samples=100)
    score("A cat sat.", ["Cats sit."], metrics=("rouge-l", "rouge-w-1.2"))
