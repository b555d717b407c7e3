"""diversify and greedy_map of tensors: the same items as of arrays, on the same device."""

import numpy as np
import pytest
import torch

from brute import random_kernel
from dpplearn import DPP, diversify
from dpplearn.decoding import greedy_map
from dpplearn.torch import front

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def problem(n, d, rng, dtype=np.float64):
    E = (rng.standard_normal((n, d)) + 2 * rng.standard_normal((5, d))[rng.integers(0, 5, n)]).astype(dtype)
    return E, rng.standard_normal(n)


@pytest.fixture(params=[True, False], ids=["small front", "one front"], autouse=True)
def small_front(request, monkeypatch):
    """A front of 16 items, and blocks of 64 rows, so that few items see what many would."""
    if request.param:
        monkeypatch.setattr(front, "FRONT", 16)
        monkeypatch.setattr(front, "ROWS", 64)


def assert_same(found, want, device):
    assert found.subset.device.type == device == found.gains.device.type
    assert found.subset.tolist() == want.subset.tolist()
    np.testing.assert_allclose(found.gains.cpu(), want.gains, atol=1e-9)
    assert found.reason == want.reason
    assert found.cost == pytest.approx(want.cost)
    assert found.log_prob == pytest.approx(want.log_prob, abs=1e-7)
    assert len(found) == len(want)
    assert found.sorted_subset.tolist() == want.sorted_subset.tolist()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("diversity", [0.0, 0.3, 0.49, 0.5, 0.8, 1.0])
def test_diversify(device, diversity, rng):
    E, s = problem(300, 20, rng)
    found = diversify(torch.tensor(E, device=device), torch.tensor(s, device=device), k=15, diversity=diversity)
    want = diversify(E, s, k=15, diversity=diversity)
    assert_same(found, want, device)
    assert found.subset is found.subset
    np.testing.assert_allclose(found.selection_scores.cpu(), want.selection_scores)
    assert found.nearest.items.tolist() == want.nearest.items.tolist()
    np.testing.assert_allclose(found.nearest.similarity.cpu(), want.nearest.similarity, atol=1e-12)
    assert [x.reason for x in found.skipped] == [x.reason for x in want.skipped]
    assert [x.nearest for x in found.kept] == [x.nearest for x in want.kept]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_types_of_rows(device, dtype, rng):
    E, s = problem(500, 48, rng, dtype)
    found = diversify(torch.tensor(E, device=device), torch.tensor(s, device=device), k=30)
    want = diversify(E, s, k=30)
    assert found.subset.tolist() == want.subset.tolist()
    np.testing.assert_allclose(found.gains.cpu(), want.gains, atol=1e-5)
    bfloat = torch.tensor(E, device=device).bfloat16()
    found = diversify(bfloat, torch.tensor(s, device=device), k=30)
    assert found.subset.tolist() == diversify(bfloat.float().cpu().numpy(), s, k=30).subset.tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_more_items_than_directions(device, rng):
    """With the nugget any number; without it, the rest are linear combinations, and duplicates come last."""
    E, s = problem(200, 6, rng)
    E[50:60] = E[40:50]
    E[7] = 0.0
    T, scores = torch.tensor(E, device=device), torch.tensor(s, device=device)
    assert_same(diversify(T, scores, k=80, diversity=0.45), diversify(E, s, k=80, diversity=0.45), device)
    for diversity in (0.5, 0.9):
        found, want = diversify(T, scores, k=80, diversity=diversity), diversify(E, s, k=80, diversity=diversity)
        assert len(set(found.subset.tolist())) == 80
        assert found.subset[:6].tolist() == want.subset[:6].tolist()  # then the rest, which no direction is left for


@pytest.mark.parametrize("device", DEVICES)
def test_budgets_and_what_must_be_in(device, rng):
    E, s = problem(120, 15, rng)
    cost = rng.uniform(1, 5, 120)
    T, S = torch.tensor(E, device=device), torch.tensor(s, device=device)
    for asked in (
        {"budget": 30.0, "cost": cost},
        {"budget": 30.0, "cost": cost, "include": [3, 50], "exclude": [1, 2]},
        {"k": 12, "include": [3, 50]},
        {},
        {"budget": 0.5, "cost": cost},
        {"k": 6, "gain": "probability", "cost": cost},
        {"k": 10, "exclusive": np.arange(120) // 30},
        {"budget": 30.0, "cost": cost, "exclusive": np.arange(120) // 10, "include": [15]},
    ):
        assert_same(diversify(T, S, **asked), diversify(E, s, **asked), device)
    mine = {"cost": torch.tensor(cost, device=device), "include": torch.tensor([3, 50], device=device)}
    assert_same(diversify(T, S, budget=30.0, **mine), diversify(E, s, budget=30.0, cost=cost, include=[3, 50]), device)


@pytest.mark.parametrize("device", DEVICES)
def test_equal_scores_and_equal_rows(device):
    E = np.eye(8)[[0, 0, 1, 2, 3, 3, 4, 5]]
    want = diversify(E, np.ones(8), k=5)
    found = diversify(torch.tensor(E, device=device), torch.ones(8, device=device), k=5)
    assert found.subset.tolist() == want.subset.tolist()


@pytest.mark.parametrize("method", ["sampled", "exact", "local"])
def test_other_decoders(method, rng):
    E, s = problem(12, 5, rng)
    options = {"rng": 0} if method == "sampled" else {}
    found = diversify(torch.tensor(E), torch.tensor(s), k=4, decoder=method, **options)
    want = diversify(E, s, k=4, decoder=method, **options)
    assert_same(found, want, "cpu")
    assert [x.reason for x in found.skipped] == [x.reason for x in want.skipped]


@pytest.mark.parametrize("device", DEVICES)
def test_greedy_map(device, rng):
    E, _ = problem(100, 30, rng)
    q, cost = np.exp(rng.standard_normal(100)), rng.uniform(1, 5, 100)
    L = random_kernel(60, rng, rank=40)
    for asked in ({"k": 10}, {"k": 10, "diversity": 0.3}, {"k": 10, "diversity": 0.8}, {}, {"stop": "full"}):
        model = (torch.tensor(q, device=device), torch.tensor(E, device=device))
        assert_same(greedy_map(model, **asked), greedy_map((q, E), **asked), device)
        assert_same(greedy_map(torch.tensor(L, device=device), **asked), greedy_map(DPP(L), **asked), device)
    for gain in ("auto", "log", "probability"):
        asked = {"cost": cost, "budget": 20.0, "gain": gain, "include": [4]}
        assert_same(greedy_map((torch.tensor(q), torch.tensor(E)), **asked), greedy_map((q, E), **asked), "cpu")


def test_what_is_wrong_is_said(rng):
    E, s = (torch.tensor(x) for x in problem(10, 4, rng))
    with pytest.raises(ValueError, match="one row and one entry"):
        diversify(E, s[:5], k=2)
    with pytest.raises(ValueError, match="rows 3"):
        diversify(E.index_fill(0, torch.tensor([3]), torch.nan), s, k=2)
    with pytest.raises(ValueError, match="finite"):
        diversify(E, s * torch.inf, k=2)
    with pytest.raises(ValueError, match="probability 0"):
        diversify(torch.cat([E, E]), torch.cat([s, s]), k=4, include=[0, 10])
    with pytest.raises(ValueError, match="zero row"):
        greedy_map((torch.ones(10), E * 0), k=2)
    with pytest.raises(ValueError, match="negative"):
        greedy_map((-torch.ones(10), E), k=2)
    with pytest.raises(ValueError, match="batches"):
        greedy_map(E[None], k=2)
    assert len(diversify(E[:0], s[:0], k=2)) == 0


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_any_length_have_a_direction(device, kind, rng):
    """Squares of most lengths are no floats of their type."""
    E, s = problem(60, 6, rng)
    rows, scores = torch.tensor(E).to(kind), torch.tensor(s, device=device)
    sizes = 2.0 ** torch.linspace(-100, 100, 60, dtype=torch.float64).round()
    if kind == torch.float64:
        sizes = sizes**10
    scaled = (rows.double() * sizes[torch.tensor(rng.permutation(60))].unsqueeze(-1)).to(kind).to(device)
    scaled[7] = 0.0
    rows[7] = 0.0
    want = diversify(rows.double().numpy(), s, k=6).subset.tolist()
    found = diversify(scaled, scores, k=6)
    assert found.subset.tolist() == want
    assert found.candidates.zero.sum() == 1
