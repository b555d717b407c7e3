"""diversify and greedy_map of tensors: the same items as of arrays, with every option, on the same device.

Where there is no GPU, `device` stands for the code that runs on one, with tensors of the CPU.
"""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from brute import random_kernel
from dpplearn import DPP, diversify
from dpplearn.decoding import engine, greedy_map
from dpplearn.torch import selecting

KINDS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def problem(n, d, rng, dtype=np.float64):
    E = (rng.standard_normal((n, d)) + 2 * rng.standard_normal((5, d))[rng.integers(0, 5, n)]).astype(dtype)
    return E, rng.standard_normal(n)


@pytest.fixture(params=["host", "device", "device, small blocks"])
def device(request, monkeypatch):
    """Tensors read as arrays; and as on a device, in one block, or in blocks of 16 items and passes over 64 rows."""
    if request.param == "host":
        return "cpu"
    monkeypatch.setattr(selecting, "ON_HOST", ())
    if "small" in request.param:
        monkeypatch.setattr(selecting.TensorOps, "start", 16)
        monkeypatch.setattr(engine, "SMALL_ENTRIES", 0)
        monkeypatch.setattr(engine, "POOL_SIZE", 64)
        monkeypatch.setattr(engine, "ROWS_PER_PASS", 64)
    return "cuda" if torch.cuda.is_available() else "cpu"


def assert_same(found, want, device, atol=1e-9):
    assert found.subset.device.type == device == found.gains.device.type
    assert found.subset.tolist() == want.subset.tolist()
    np.testing.assert_allclose(found.gains.cpu(), want.gains, atol=atol)
    assert found.reason == want.reason
    assert found.cost == pytest.approx(want.cost)
    assert len(found) == len(want)
    assert found.sorted_subset.tolist() == want.sorted_subset.tolist()


def options(n, rng):
    cost = rng.uniform(1, 5, n)
    groups = rng.integers(0, 6, n)
    return {
        "nothing": {},
        "auto": {"k": "auto"},
        "auto in groups": {"k": "auto", "groups": groups, "max_per_group": 1},
        "budget": {"budget": 30.0, "cost": cost},
        "by probability": {"budget": 30.0, "cost": cost, "gain": "probability"},
        "include and exclude": {"budget": 30.0, "cost": cost, "include": [3, 50], "exclude": [1, 2]},
        "only gains": {"k": 15, "stop": "no-gain"},
        "a nugget": {"k": 14, "nugget": 0.1},
        "at most": {"k": 10, "groups": groups, "max_per_group": 2},
        "at most, then more": {"k": 14, "groups": groups, "max_per_group": 1, "backfill": True},
        "at least": {"k": 12, "groups": groups, "min_per_group": {0: 3, 4: 2}},
        "given by number": {"k": 10, "given": [5, 60]},
        "given as rows": {"k": 10, "given": rng.standard_normal((4, 15))},
        "near": {"k": 10, "kernel": "near"},
        "past the rank": {"k": 40},
        "linear past the rank": {"k": 40, "kernel": "linear"},
    }


@pytest.mark.parametrize("name", options(120, np.random.default_rng(0)))
def test_every_option(device, name, rng):
    """Also with what is asked as tensors, and without scores."""
    E, s = problem(120, 15, rng)
    E[7] = 0.0
    E[50:55] = E[40:45]
    asked = options(120, rng)[name]
    T, scores = torch.tensor(E, device=device), torch.tensor(s, device=device)
    want = diversify(E, s, **asked)
    assert_same(diversify(T, scores, **asked), want, device)
    tensors = {
        key: torch.tensor(x, device=device) if isinstance(x, list | np.ndarray) else x for key, x in asked.items()
    }
    assert_same(diversify(T, scores, **tensors), want, device)
    assert_same(diversify(T, **asked), diversify(E, **asked), device)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_bounds(device, kind, rng, monkeypatch):
    """Items with much in common, so that passes are needed; rows longer than any float16, and products that hurry."""
    E = rng.standard_normal((1500, 32)) + 3 * rng.standard_normal(32)
    E *= 60_000 / np.abs(E).max(1, keepdims=True) / 2.0 ** rng.integers(0, 12, (1500, 1))
    rows, s = torch.tensor(E).to(kind), rng.standard_normal(1500)
    want = diversify(rows.double().numpy(), s, k=32).subset.tolist()
    assert diversify(rows.to(device), torch.tensor(s, device=device), k=32).subset.tolist() == want
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    assert diversify(rows.to(device), torch.tensor(s, device=device), k=32).subset.tolist() == want


def test_greedy_map(device, rng):
    E, _ = problem(100, 30, rng)
    q, cost = np.exp(rng.standard_normal(100)), rng.uniform(1, 5, 100)
    model = (torch.tensor(q, device=device), torch.tensor(E, device=device))
    L = random_kernel(60, rng, rank=40)
    for asked in (
        {"k": 10},
        {"k": 10, "diversity": 0.3},
        {"k": 10, "diversity": 0.8},
        {"k": 10, "nugget": 0.2},
        {"k": 10, "groups": np.arange(100) % 4, "max_per_group": 2},
        {},
        {"stop": "full"},
    ):
        for tensors, arrays in ((model, (q, E)), (torch.tensor(L, device=device), DPP(L))):
            if "groups" in asked:
                asked["groups"] = asked["groups"][: 60 if isinstance(arrays, DPP) else 100]
            found, want = greedy_map(tensors, **asked), greedy_map(arrays, **asked)
            assert_same(found, want, device)
            assert found.log_prob == pytest.approx(want.log_prob, abs=1e-6)
    for gain in ("auto", "log", "probability"):
        asked = {"cost": cost, "budget": 20.0, "gain": gain, "include": [4]}
        assert_same(greedy_map(model, **asked), greedy_map((q, E), **asked), device)


def test_what_is_wrong_is_said(device, rng):
    E, s = (torch.tensor(x, device=device) for x in problem(10, 4, rng))
    ones = torch.ones(10, device=device)
    for call, message in (
        (lambda: diversify(E, s[:5], k=2), "one row and one entry"),
        (lambda: diversify(E.index_fill(0, torch.tensor([3], device=device), torch.nan), s, k=2), r"rows? 3"),
        (lambda: diversify(E, s * torch.inf, k=2), "finite"),
        (lambda: diversify(torch.cat([E, E]), torch.cat([s, s]), k=4, include=[0, 10]), "probability 0"),
        (lambda: greedy_map((ones, E * 0), k=2), "zero row"),
        (lambda: greedy_map((-ones, E), k=2), "below 0"),
        (lambda: greedy_map(E[None], k=2), "batches"),
        (lambda: greedy_map(torch.triu(torch.ones(3, 3, device=device)), k=2), "symmetric"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert len(diversify(E[:0], s[:0], k=2)) == 0


class Waits(TorchDispatchMode):
    """Counts what a device is waited for: numbers read one by one, and masks made into places."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        asks = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default)
        self.count += func in asks
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("asked", [{}, {"stop": "no-gain"}, {"nugget": 0.1}], ids=str)
def test_a_device_is_waited_for_twice_an_item(asked, rng, monkeypatch):
    monkeypatch.setattr(selecting, "ON_HOST", ())
    calls = []
    for name in ("best", "at"):
        read = getattr(selecting.TensorOps, name)
        monkeypatch.setattr(selecting.TensorOps, name, staticmethod(lambda *x, read=read: calls.append(1) or read(*x)))
    E = torch.tensor(np.linalg.qr(rng.standard_normal((64, 64)))[0] + 0.01)
    found = []
    for k in (10, 30):
        calls.clear()
        with Waits() as waits:
            assert len(diversify(E, k=k, **asked)) == k
        found.append((waits.count, len(calls)))
    (few, once), (many, often) = found
    assert many == few
    assert often == once + 2 * 20
