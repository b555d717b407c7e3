"""The numpy evaluator: one instance after the other, each with LAPACK's factors."""

from __future__ import annotations

from dpplearn._run.blas import blas_threads
from dpplearn.learning.likelihood import Example, Request, Terms
from dpplearn.learning.similarity.record import Similarity
from dpplearn.learning.training_set import Shard


class Prepared:
    """Instances that keep what does not change between evaluations."""

    def __init__(self, shard: Shard, similarity: Similarity) -> None:
        instances = zip(shard.weights.tolist(), shard.item_sets, shard.subsets, strict=True)
        self.largest = max(items.n for items in shard.item_sets)
        self.weighted: list[tuple[float, Example]] = []
        before: Example | None = None
        for w, items, Y in instances:
            before = Example(items, Y, similarity, before=before)
            self.weighted.append((w, before))

    def evaluate(self, request: Request) -> Terms:
        with blas_threads(self.largest):
            return request.total((w, example.evaluate(request)) for w, example in self.weighted)

    def __sizeof__(self) -> int:
        return sum(example.nbytes for _, example in self.weighted)


class OneByOne:
    """numpy and LAPACK, instance by instance."""

    def prepare(self, shard: Shard, similarity: Similarity) -> Prepared:
        return Prepared(shard, similarity)
