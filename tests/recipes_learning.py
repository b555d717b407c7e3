"""What CONTRIBUTING.md shows, whole: a kind of similarity and an evaluator, as a newcomer would add them."""

from dataclasses import dataclass

import numpy as np

from dpplearn import ItemSet
from dpplearn._linalg import to_dense
from dpplearn.learning.algorithm1 import algorithm1
from dpplearn.learning.similarity import Parameter, Similarity


@dataclass(frozen=True)
class TwoScales(Similarity):
    """Cosines after the first similarity feature was multiplied by sqrt(w): S = D^-1/2 (R + w f f^T) D^-1/2."""

    kind = "two-scales"
    space = (Parameter("w", 0.01, 16.0, (0.01, 0.25, 1.0, 4.0, 16.0)),)

    w: float = 1.0

    @property
    def parameters(self):
        return np.array([self.w])

    def with_parameters(self, vector):
        return type(self)(*vector.tolist())

    def rows(self, items):
        if items.phi is None:
            return None
        scaled = np.array(items.phi)
        scaled[:, 0] *= np.sqrt(self.w)
        return scaled / np.linalg.norm(scaled, axis=1)[:, None]

    def pull_back(self, items, G, subset=None):
        U = self.rows(items) if subset is None else self.rows(items)[subset]
        # d u_i / dw = (e - u_i u_i1) u_i1 / (2 w), e the first axis; and <G, dS> = 2 <G U, dU>
        dU = -U * U[:, :1] ** 2
        dU[:, 0] += U[:, 0]
        return np.array([2 * np.sum(G.times(U) * dU) / (2 * self.w)])


@dataclass(frozen=True)
class Held(TwoScales):
    """The same, with nothing to learn."""

    kind = "held"
    space = ()

    @property
    def parameters(self):
        return np.empty(0)


@dataclass(frozen=True)
class Blend(Similarity):
    """S = (1 - w) I + w C: cosines of phi, dense or sparse, of which each item keeps a share to itself."""

    kind = "blend"
    space = (Parameter("w", 0.05, 0.95, (0.05, 0.35, 0.65, 0.95)),)

    w: float = 0.5

    @property
    def own(self):
        return 1 - self.w

    @property
    def parameters(self):
        return np.array([self.w])

    def with_parameters(self, vector):
        return type(self)(*vector.tolist())

    def rows(self, items):
        return None if items.phi is None else np.sqrt(self.w) * to_dense(items.phi)

    def pull_back(self, items, G, subset=None):  # noqa: ARG002  # G knows <G, w C>
        return np.array([G.shared / self.w - G.trace()])  # dS/dw = C - I


class Counted:
    """A shard evaluated by Algorithm 1, as the paper has it."""

    evaluations = 0

    def __init__(self, shard):
        self.instances = list(zip(shard.weights.tolist(), shard.item_sets, shard.subsets, strict=True))

    def evaluate(self, request):
        Counted.evaluations += 1
        quality, S = request.quality, request.similarity
        return request.total((w, self.terms(items, Y, quality, S, request.order)) for w, items, Y in self.instances)

    def terms(self, items, Y, quality, S, order):
        whole = ItemSet(quality.jacobian(items), items.cosines())  # with a column for the constant, if it has one
        return algorithm1(quality.parameters, whole, Y, rho=S.rho, nugget=S.nugget, order=order)


class Counting:
    """The evaluator itself: it makes shards ready."""

    def prepare(self, shard, similarity):  # noqa: ARG002  # Algorithm 1 takes S from the request
        return Counted(shard)
