"""On a fresh machine a small problem is answered before a compiler has begun, and as it is answered ever after."""

import json
import os
import subprocess
import sys
import threading

import pytest

from dpplearn import _numba as jit
from waiting import until

# What people first try, and what ties: equal items, whole numbers, more items than dimensions, groups, short types.
ANSWERS = """
import json, sys
import numpy as np
from scipy import sparse
from dpplearn import _numba as jit
from dpplearn import DPP, KDPP, LowRankDPP, NonsymmetricDPP, diversify
from dpplearn.decoding import greedy_map
from dpplearn.rouge import score
from dpplearn.summarize import Cluster, Summarizer, summarize

jit.PATIENCE = float("inf")  # steps alone decide, not how slow this machine is just now
rng = np.random.default_rng(7)
X, q = rng.normal(size=(60, 12)), rng.random(60)
grid = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]], float)[np.arange(40) % 4]
found = {"many": len(DPP(np.diag(np.linspace(0.01, 0.09, 1000))).sample(1, rng=0)[0])}  # needs no compiler

for name, rows in {
    "float64": X, "float32": X.astype(np.float32), "float16": X.astype(np.float16),
    "sparse": sparse.csr_array(np.where(X > 0.8, X, 0.0) + np.eye(60, 12)), "equal": grid,
    "twice": np.repeat(X[:30], 2, 0),
}.items():
    n = rows.shape[0]
    for k in (5, 30):
        chosen = diversify(rows, q[:n], k=k)
        found[f"diversify {name} {k}"] = [chosen.subset.tolist(), chosen.gains.tolist()]
    found[f"diversify {name} all alike"] = diversify(rows, np.ones(n), k=9).subset.tolist()
found["groups"] = diversify(X, q, k=12, groups=np.arange(60) % 7, max_per_group=2).subset.tolist()
found["given"] = diversify(X[:50], q[:50], k=8, given=X[50:]).subset.tolist()
found["costs"] = diversify(X, q, cost=1 + np.arange(60) % 3, budget=20).subset.tolist()

L = X @ X.T / 24 + 0.02 * np.eye(60)
for name, dpp in {"dense": DPP(L), "whole numbers": DPP(grid @ grid.T + np.eye(40)), "rows": LowRankDPP(X / 4)}.items():
    for size in (1, 12):
        found[f"sample {name} {size}"] = [Y.tolist() for Y in dpp.sample(size, rng=3)]
    found[f"log_prob {name}"] = [float(x) for x in dpp.log_prob(dpp.sample(20, rng=1))]
    if name != "rows":
        greedy = greedy_map(dpp, k=12)
        found[f"greedy {name}"] = [greedy.subset.tolist(), greedy.gains.tolist()]
        found[f"budget {name}"] = greedy_map(dpp, cost=1 + np.arange(dpp.n) % 4, budget=30).subset.tolist()
        found[f"cholesky {name}"] = [Y.tolist() for Y in dpp.sample(3, rng=2, method="cholesky")]
    kdpp = KDPP(dpp, 6)
    found[f"k-DPP {name}"] = [[Y.tolist() for Y in kdpp.sample(size, rng=5)] for size in (1, 12)]
    found[f"marginals {name}"] = kdpp.marginals.tolist()
found["entropy"] = float(DPP(L[:8, :8]).entropy())
V = rng.normal(size=(30, 4))
skew = NonsymmetricDPP(V / 3, V[::-1] / 3, rng.normal(size=(4, 4)))
found["nonsymmetric"] = [Y.tolist() for Y in skew.sample(3, rng=0, method="elimination")]

for seed in range(25):  # many ties, most of them past the rank
    rng = np.random.default_rng(seed)
    n, d = rng.integers(5, 40), rng.integers(1, 5)
    Z, cost = rng.integers(-2, 3, (n, d)).astype(float), rng.integers(1, 4, n)
    picked = diversify(Z, rng.integers(1, 4, n), k=int(n)), greedy_map(DPP(Z @ Z.T + 0.05 * np.eye(n)), cost, 12)
    found[f"ties {seed}"] = [one.subset.tolist() for one in picked]

model = Summarizer.load()
for decoder in ("greedy", "consensus"):
    for budget in (40, 100):
        summary = model.summarize(Cluster.example(), budget, decoder=decoder)
        found[f"{decoder} {budget}"] = [summary.text, summary.order.tolist(), summary.length]
found["texts"] = summarize(["Rain fell on Monday. The river rose. Two roads closed.", "Rain fell."], 6).text
rouge = score("The cats sat on the mat.", ["A cat sat on a mat.", "Mats sit."], metrics=("rouge-l", "rouge-w-1.2"))
found["rouge"] = {key: list(map(float, value)) for key, value in rouge.items()}
json.dump(found, sys.stdout)
"""


def answers(cache):
    """The answers of a new process that finds nothing compiled."""
    environment = {**os.environ, "DPPLEARN_COMPILE": "", "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-W", "error", "-c", ANSWERS]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def same(one, other):
    """Equal choices, texts and orders; numbers to rounding, of which sums in another order have more or less."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return abs(one - other) <= 1e-9 * (1 + abs(other)) if isinstance(one, float) else one == other


def test_once_warm_nothing_is_compiled_and_the_answers_are_those_of_python(tmp_path):
    code = f"""
from dpplearn import _numba
from dpplearn.cli import main
main(["warm"], standalone_mode=False)
versions = lambda: set(_numba.folder().rglob("*.nbc"))
before = versions()
_numba._always.set(True)  # what is not compiled yet would be now
print()
{ANSWERS}
print()
print(len(before), sorted(versions() - before))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    *_, compiled, last = run.stdout.splitlines()
    count, _, new = last.partition(" ")
    assert int(count) > 10
    assert new == "[]"
    python, compiled = answers(tmp_path), json.loads(compiled)
    assert not list(tmp_path.rglob("*.nbc"))  # nothing was worth compiling
    assert [key for key in python if not same(python[key], compiled[key])] == []


@jit.jit
def helper(x):
    return x


def twice(x):
    return helper(x) + helper(x)


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """A loop whose calls are of x steps, with nothing compiled on disk."""
    monkeypatch.setattr(jit, "folder", lambda: tmp_path)
    return jit.jit(twice, steps=lambda x: x)


def test_few_steps_run_in_python_and_many_are_compiled(loop):
    assert loop(2.0) == 4.0
    assert not loop.versions
    assert loop(2.0 * jit.FEW_STEPS) == 4.0 * jit.FEW_STEPS
    assert loop.versions


def test_a_thread_compiles_a_loop_that_has_taken_long(loop, monkeypatch):
    began, go_on, compile_ = threading.Event(), threading.Event(), jit.Loop.load_or_compile

    def slowly(*args):
        began.set()
        assert go_on.wait(300)
        return compile_(*args)

    monkeypatch.setattr(jit.Loop, "load_or_compile", slowly)
    assert loop(2.0) == 4.0
    loop.seconds = dict.fromkeys(loop.seconds, jit.PATIENCE)
    assert loop(2.0) == 4.0
    assert began.wait(300)
    other = jit.jit(lambda x: x, steps=lambda x: x)
    for _ in range(100):  # calls go on meanwhile, of this loop and of others
        assert loop(2.0) == 4.0
        assert other(2.0) == 2.0
    assert not loop.versions
    go_on.set()
    until(lambda: loop.versions)
    assert loop(2.0) == 4.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on Unix alone")
def test_a_process_forked_while_a_thread_compiles_can_compile(tmp_path):
    code = """
import multiprocessing, warnings
from dpplearn import _numba as jit
from dpplearn.sampling._loops import decide
import numpy as np
warnings.simplefilter("ignore", DeprecationWarning)  # of forking while threads run: that is the point
def call():
    decide(np.eye(3), np.ones(3), np.ones(3, np.bool_), 1.0)
def work():
    with jit.compiled_always():
        call()
call()
decide.seconds = dict.fromkeys(decide.seconds, jit.PATIENCE)
call()
child = multiprocessing.get_context("fork").Process(target=work)
child.start()
child.join(300)
print(child.exitcode)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout == "0\n", run.stderr
