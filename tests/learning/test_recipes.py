"""The recipe of CONTRIBUTING.md, whole: a new evaluator is one class, as a newcomer would add it."""

import numpy as np

from brute_learning import THETA, training_set
from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning.likelihood import algorithm1
from dpplearn.learning.similarity import fixed_similarity


class Counted:
    """A shard evaluated by Algorithm 1, as the paper has it."""

    evaluations = 0

    def __init__(self, shard):
        self.instances = list(zip(shard.weights.tolist(), shard.item_sets, shard.subsets, strict=True))

    def evaluate(self, request):
        Counted.evaluations += 1
        quality, S = request.quality, request.similarity
        return request.total((w, self.terms(items, Y, quality, S)) for w, items, Y in self.instances)

    def terms(self, items, Y, quality, S):
        # with a column for the constant, if it has one
        whole = ItemSet(quality.jacobian(items), items.similarity_matrix())
        return algorithm1(quality.theta, whole, Y, rho=S.rho, nugget=S.nugget)


class Counting:
    """The evaluator itself: it makes shards ready."""

    def prepare(self, shard, similarity):  # noqa: ARG002  # Algorithm 1 takes S from the request
        return Counted(shard)


def test_a_new_evaluator_is_one_class():
    X, y = training_set(50, 8, THETA, np.random.default_rng(3), d=5)
    expected = ConditionalDPP(rho=0.3, nugget=0.1).fit(X, y)
    model = ConditionalDPP(rho=0.3, nugget=0.1).fit(X, y, evaluator=Counting())
    assert Counted.evaluations > 0
    np.testing.assert_allclose(model.theta_, expected.theta_, atol=1e-8)
    assert model.similarity_ == fixed_similarity(0.3, 0.1)
