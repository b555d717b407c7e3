"""Measures dpplearn.torch on a GPU, or else on the CPU: instances a second, a whole fit, selection and memory.

`python -m benchmarks torch` needs torch (`make test-torch` makes .venv-torch). It checks answers before it times them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from time import perf_counter
from unittest import mock

import numpy as np

from benchmarks.learning import section_7_2_features
from benchmarks.timing import RESULTS, compare_pairs, main, median_seconds, seconds
from dpplearn import diversify
from dpplearn.learning import ConditionalDPP, ItemSet
from dpplearn.learning.itemset import Shard
from dpplearn.learning.likelihood import LikelihoodRequest, LogLinear
from dpplearn.learning.similarity import Similarity, SimilarityPart
from dpplearn.learning.training_set import PreparedInstances, PreparedShard, make_backend

M = 39
TARGETS = {
    "value and gradient, n = 250": 60_000,
    "value, gradient and Hessian, n = 250": 20_000,
    "value and gradient, n = 64": 1_000_000,
}


def batches(device: str):
    """The torch evaluator for a device."""
    from dpplearn.torch.evaluator import Batches

    return Batches(device)


def made_up(T: int, n: int, device, seed: int = 0) -> tuple[list[ItemSet], list[np.ndarray]]:
    """T instances with features as in section 7.2, similarities of random rows, and 3 to 6 chosen items."""
    import torch

    rng, X, y = np.random.default_rng(seed), [], []
    torch.manual_seed(seed)
    for low in range(0, T, 256):
        b = min(256, T - low)
        phi = torch.nn.functional.normalize(
            torch.randn(b, n, 2 * n, device=device, dtype=torch.float64).abs() ** 3, dim=-1
        )
        S = (phi @ phi.mT).cpu().numpy()
        S[:, np.arange(n), np.arange(n)] = 1.0
        for t in range(b):
            F = section_7_2_features(n, rng)
            X.append(ItemSet._with(features=F, parts=(SimilarityPart("S", matrix=S[t]),), cost=None, names=None))
            appeal = np.exp(2 * F[:, 12] - 0.5 * F[:, 6:12] @ np.arange(6))
            y.append(np.sort(rng.choice(n, rng.integers(3, 7), replace=False, p=appeal / appeal.sum())))
    return X, y


def plain_autograd(X: list[ItemSet], y: list[np.ndarray], device) -> Callable[[np.ndarray], object]:
    """The likelihood as one would write it without this package: batched Cholesky factors, and autograd."""
    import torch

    F = torch.tensor(np.stack([x.features for x in X]), device=device)
    S = torch.tensor(np.stack([x.parts[0].matrix for x in X]), device=device)
    Y = torch.zeros(F.shape[:2], dtype=torch.bool, device=device)
    for t, subset in enumerate(y):
        Y[t, subset] = True
    eye = torch.eye(F.shape[1], device=device, dtype=torch.float64)

    def call(theta: np.ndarray):
        weights = torch.tensor(theta, device=device, requires_grad=True)
        log_q = F @ weights / 2
        q = log_q.exp()
        L = q[:, :, None] * S * q[:, None, :]
        block = torch.where(Y[:, :, None] & Y[:, None, :], S, eye)
        value = (2 * (log_q * Y).sum() + 2 * torch.linalg.cholesky(block).diagonal(dim1=1, dim2=2).log().sum()) - (
            2 * torch.linalg.cholesky(eye + L).diagonal(dim1=1, dim2=2).log().sum()
        )
        (gradient,) = torch.autograd.grad(value, weights)
        return value.item(), gradient.cpu().numpy()

    return call


def rates(device, quick: bool) -> list[dict]:
    """Instances a second of the evaluator, for one shard that is on the device."""
    import torch

    figures = []
    small = quick or device.type == "cpu"
    theta = np.random.default_rng(1).standard_normal(M) / 4
    for n, T in ((250, 64 if small else 8192), (64, 256 if small else 65_536)):
        X, y = made_up(T, n, device)
        prepared = batches(device).prepare(Shard(X, y, np.ones(T)), Similarity())
        for order in (1, 2):
            request = LikelihoodRequest(LogLinear(theta), Similarity(), order)
            ours = prepared.evaluate(request)
            few = Shard(X[:50], y[:50], np.ones(50))
            exact = PreparedInstances(few, Similarity()).evaluate(request)
            batched = batches(None).prepare(few, Similarity()).evaluate(request)
            for a, b in zip(exact[: order + 1], batched[: order + 1], strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)
            assert np.isfinite(ours.value)
            case = "value, gradient and Hessian" if order == 2 else "value and gradient"
            case += f", n = {n}"
            time = median_seconds(lambda r=request, e=prepared: e.evaluate(r), 3 if small else 10)
            target = f"≥ {TARGETS[case]:,}" if case in TARGETS else None
            figures.append({"case": case, "value": T / time, "unit": "instances a second", "target": target})
        plain = plain_autograd(X[:1024], y[:1024], device)
        few = Shard(X[:1024], y[:1024], np.ones(len(X[:1024])))
        ours = batches(device).prepare(few, Similarity()).evaluate(LikelihoodRequest(LogLinear(theta), Similarity(), 1))
        np.testing.assert_allclose(plain(theta)[1], ours.gradient, rtol=1e-8, atol=1e-6)
        time = median_seconds(lambda p=plain: p(theta), 3 if small else 10)
        case = f"plain autograd, n = {n}: value and gradient"
        figures.append({"case": case, "value": min(T, 1024) / time, "unit": "instances a second"})
        del prepared, plain
        if device.type == "cuda":
            torch.cuda.empty_cache()
    return figures


def against_numpy(device, quick: bool) -> dict:
    """One evaluation with its Hessian, on the device and by the numpy evaluator in one process for each core."""
    T = 64 if quick else 2048
    X, y = made_up(T, 250, device)
    data, request = Shard(X, y, np.ones(T)), LikelihoodRequest(LogLinear(np.full(M, 0.1)), Similarity())
    prepared = batches(device).prepare(data, Similarity())
    prepare = partial(PreparedShard.of, evaluator="numpy", similarity=Similarity())
    with make_backend(None, -1, data, prepare) as cores:
        expected = cores.evaluate(request)
        np.testing.assert_allclose(prepared.evaluate(request).gradient, expected.gradient, rtol=1e-9, atol=1e-8)
        pairs = [
            (seconds(lambda: prepared.evaluate(request)) / T, seconds(lambda: cores.evaluate(request)) / T)
            for _ in range(3 if quick else 7)
        ]
    case = "value, gradient and Hessian of an instance, n = 250"
    return {"case": case, "peer": "numpy, a process for each core", **compare_pairs(pairs), "target": None}


def fits(device, quick: bool) -> tuple[list[dict], str]:
    """The time of a whole fit on the device; a fit of 200 instances must agree with numpy's."""
    small = quick or device.type == "cpu"
    X, y = made_up(200, 250 if not small else 60, device, seed=1)
    models = [ConditionalDPP(10.0).fit(X, y, evaluator=name) for name in ("numpy", "torch")]
    gap = float(np.abs(models[0].theta_ - models[1].theta_).max())
    assert gap < 1e-6
    T = 200 if small else 20_000
    X, y = made_up(T, 250, device, seed=2)
    start = perf_counter()
    model = ConditionalDPP(10.0).fit(X, y, evaluator="torch")
    time = perf_counter() - start
    note = (
        f"The fit of {T:,} instances took {model.n_iter_} Newton steps to a gradient of {model.gradient_norm_:.1e}; "
        "its time includes copying the instances to the device. On 200 instances, its weights and numpy's differ by at "
        f"most {gap:.1e}."
    )
    case = f"whole fit of {T:,} instances, n = 250, {M} features"
    return [{"case": case, "value": time, "unit": "s", "target": None if small else "< 30"}], note


def selection(device, quick: bool) -> list[dict]:
    """The time of diversify on float16 embeddings around 1,000 topics, with normally distributed scores."""
    import torch

    small, figures, D = quick or device.type == "cpu", [], 384
    N = 50_000 if small else 5_000_000
    generator = torch.Generator(device).manual_seed(0)
    topics = torch.randn(1000, D, device=device, generator=generator)
    E = torch.empty(N, D, device=device, dtype=torch.float16)
    for part in E.split(2**18):
        which = torch.randint(1000, (len(part),), device=device, generator=generator)
        part.copy_(torch.randn(len(part), D, device=device, generator=generator) + topics[which])
    few = slice(0, 5000)
    scores = torch.randn(N, device=device, generator=generator)
    if find_spec("numba"):
        arrays = diversify(E[few].cpu().numpy(), scores[few].cpu().numpy(), 40).subset
        assert diversify(E[few], scores[few], 40).subset.tolist() == arrays.tolist()
    for name, s in (("", scores), (", all scores equal", torch.zeros_like(scores))):
        time = median_seconds(lambda s=s: diversify(E, s, 50), 3 if small else 5)
        case = f"diversify, N = {N:,}, D = {D}, float16, k = 50{name}"
        figures.append({"case": case, "value": time, "unit": "s", "target": "≤ 0.1" if not (small or name) else None})
    k = 500 if small else 10_000
    start = perf_counter()
    chosen = diversify(E, scores, k, nugget=0.02)
    assert len(chosen) == k == len(set(chosen.subset.tolist()))
    case = f"diversify, N = {N:,}, D = {D}, float16, k = {k:,}, nugget 0.02"
    return [*figures, {"case": case, "value": perf_counter() - start, "unit": "s"}]


def little_memory(device) -> list[dict]:
    """Check the value where only 2 GiB are free, and where batches must be halved until they fit."""
    import torch

    from dpplearn.torch import determinants

    if device.type != "cuda":
        return []
    X, y = made_up(2048, 250, device)
    data, request = Shard(X, y, np.ones(2048)), LikelihoodRequest(LogLinear(np.full(M, 0.1)), Similarity())
    prepared = batches(device).prepare(data, Similarity())
    expected = prepared.evaluate(request)
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info(device)
    occupied = torch.empty(free - 2**31, dtype=torch.uint8, device=device)
    fitted = prepared.evaluate(request)
    with mock.patch.object(determinants, "free_bytes", return_value=2**40):
        halved = prepared.evaluate(request)
    for result in (fitted, halved):
        np.testing.assert_allclose(result.hessian, expected.hessian, rtol=1e-9, atol=1e-8)
    del occupied
    case = "instances evaluated where 2 GiB are free, and where batches had to be halved"
    return [{"case": case, "value": 2048, "unit": ""}]


def run(quick: bool = False) -> dict:
    import torch

    gpu = torch.cuda.is_available()
    device = torch.device("cuda" if gpu else "cpu")
    name = torch.cuda.get_device_name() if gpu else "the CPU: there is no GPU here"
    print(f"measuring {name}", flush=True)
    figures, note = fits(device, quick)
    figures = [*rates(device, quick), *figures, *selection(device, quick), *little_memory(device)]
    return {
        "name": "torch",
        "title": "In batches, on a GPU",
        "device": name,
        "rows": [against_numpy(device, quick)],
        "figures": figures,
        "notes": [
            f"torch {torch.__version__} on {name}.",
            f"Instances have float64 numbers, {M} features as in section 7.2, similarities of random rows, and "
            "targets of 3 to 6 items; they are on the device, as in a fit. All answers agree with numpy to 1e-9.",
            "Plain autograd is a batched Cholesky factorization of I + L and of S_Y, with autograd through both.",
            note,
            *([] if gpu else ["There was no GPU: these are figures of the CPU, for smaller problems."]),
        ],
    }


if __name__ == "__main__":
    if find_spec("torch") is None:
        sys.exit(print(f"torch is not installed here (make test-torch does it): {RESULTS / 'torch.json'} stays."))
    main(run)
