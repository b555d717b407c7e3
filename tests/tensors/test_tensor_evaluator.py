"""The torch evaluator gives what numpy gives: theta, standard errors, rho and nugget, checkpoints, cross-validation."""

import numpy as np
import pytest
import torch
from scipy import sparse

from brute_learning import random_items, training_set
from dpplearn.learning import ConditionalDPP, ItemSet
from dpplearn.learning.itemset import Shard
from dpplearn.learning.likelihood import LikelihoodRequest, LogLinear
from dpplearn.learning.similarity import Similarity, fixed_similarity
from dpplearn.learning.training_set import PreparedInstances
from dpplearn.torch import determinants, evaluator
from dpplearn.torch.evaluator import Batches

THETA = [-1.0, 0.8, -0.5]
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(scope="module")
def data():
    """Instances with dense phi, sparse phi and S, of several sizes, some of few features: all routes."""
    rng = np.random.default_rng(1)
    X, y = training_set(24, 12, THETA, rng, d=6)
    X = [
        ItemSet(x.features, S=x.similarity_matrix())
        if t % 3 == 0
        else ItemSet(x.features, phi=sparse.csr_array(x.phi))
        if t % 3 == 1
        else x
        for t, x in enumerate(X)
    ]
    for n in (20, 33, 60):
        x = random_items(n, 3, rng, d=3)
        X.append(x)
        y.append(np.array([1, n - 1]))
    return X, y


def assert_close(one, two):
    np.testing.assert_allclose(two.theta_, one.theta_, atol=1e-6)
    np.testing.assert_allclose(two.theta_std_, one.theta_std_, atol=1e-6)
    assert two.log_likelihood_ == pytest.approx(one.log_likelihood_, abs=1e-6)
    np.testing.assert_allclose([two.rho_, two.nugget_], [one.rho_, one.nugget_], atol=1e-5)


@pytest.mark.filterwarnings("ignore:The learned similarity")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"rho": 0.4, "nugget": 0.1, "prior_variance": [1.0, 2.0, np.inf]}], ids=str)
def test_the_same_fit(options, device, data):
    X, y = data
    weights = np.linspace(0.0, 2.0, len(X))
    one = ConditionalDPP(**options).fit(X, y, weights)
    assert_close(one, ConditionalDPP(**options).fit(X, y, weights, evaluator=Batches(device)))


@pytest.mark.parametrize(
    "similarity", [fixed_similarity(0.7, 0.1), Similarity(("phi",), [0.2, 0.3, 0.5])], ids=["fixed", "mixture"]
)
@pytest.mark.parametrize("order", [1, 2])
def test_every_kind_of_similarity(similarity, order, data):
    X = [x for x in data[0] if x.phi is not None and not sparse.issparse(x.phi)]
    y = [np.array([0, 2])] * len(X)
    shard = Shard(X, y, np.arange(1.0, len(X) + 1))
    request = LikelihoodRequest(LogLinear(np.array(THETA)), similarity, order, bool(similarity.names))
    one, two = (prepare(shard, similarity).evaluate(request) for prepare in (PreparedInstances, Batches().prepare))
    for a, b in zip(one, two, strict=True):
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("theta", [[60.0, 0.0, 0.0], [900.0, 0.0, 0.0], [3000.0, 1.0, 0.0]])
def test_what_is_close_to_singular_goes_the_numpy_way(theta, data, monkeypatch):
    gone, real = [], evaluator.Instance.evaluate
    monkeypatch.setattr(evaluator.Instance, "evaluate", lambda *given: gone.append(1) or real(*given))
    shard = Shard(*data, np.ones(len(data[0])))
    request = LikelihoodRequest(LogLinear(np.array(theta)), fixed_similarity(0.3))
    two = Batches().prepare(shard, fixed_similarity(0.3)).evaluate(request)
    assert gone
    one = PreparedInstances(shard, fixed_similarity(0.3)).evaluate(request)
    np.testing.assert_allclose(two.value, one.value, rtol=1e-12)
    np.testing.assert_allclose(two.gradient, one.gradient, rtol=1e-9, atol=1e-7)


def test_an_out_of_memory_error_halves_the_batch(data, monkeypatch):
    sizes = []

    def short(bucket, request, device, low, high, real=evaluator.evaluate_batch):
        sizes.append(high - low)
        if high - low > 2:
            raise torch.OutOfMemoryError("no room for this batch")
        return real(bucket, request, device, low, high)

    shard = Shard(*data, np.ones(len(data[0])))
    request = LikelihoodRequest(LogLinear(np.array(THETA)), Similarity())
    ready = Batches().prepare(shard, Similarity())
    want = ready.evaluate(request)
    monkeypatch.setattr(evaluator, "evaluate_batch", short)
    found = ready.evaluate(request)
    assert max(sizes) > 2
    np.testing.assert_allclose(found.hessian, want.hessian, atol=1e-11)
    assert found.value == pytest.approx(want.value, abs=1e-10)
    with pytest.raises(torch.OutOfMemoryError):  # where one alone does not fit, it is told
        determinants.in_batches(3, 1, torch.device("cpu"), lambda low, high: short(None, None, None, low, high + 9))
