"""What CONTRIBUTING.md shows, whole: an evaluator, as a newcomer would add it."""

from dpplearn import ItemSet
from dpplearn.learning.likelihood import algorithm1


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
