"""The numpy evaluator: one instance after the other, each with LAPACK's factors."""

from __future__ import annotations

from dpplearn._run.blas import blas_threads
from dpplearn.learning.evaluators import survey_of
from dpplearn.learning.likelihood import Example, Request, Terms
from dpplearn.learning.similarity import Similarity
from dpplearn.learning.training_set import Shard


class Prepared:
    """Instances of a shard; those of weight 0 and impossible ones are left out."""

    def __init__(self, shard: Shard, similarity: Similarity) -> None:
        self.survey = survey_of(shard, similarity)
        skip = {t for t, _ in self.survey.impossible}
        pairs = enumerate(zip(shard.item_sets, shard.subsets, shard.weights.tolist(), strict=True))
        self.largest = max(items.n for items in shard.item_sets)
        self.weighted = [(w, Example(items, Y, similarity)) for t, (items, Y, w) in pairs if w > 0 and t not in skip]

    def evaluate(self, request: Request) -> Terms:
        with blas_threads(self.largest):
            return request.total((w, example.evaluate(request)) for w, example in self.weighted)

    def __sizeof__(self) -> int:  # a scheduler that thinks this small would move it about
        return sum(example.nbytes for _, example in self.weighted)


class OneByOne:
    """numpy and LAPACK, instance by instance."""

    def prepare(self, shard: Shard, similarity: Similarity) -> Prepared:
        return Prepared(shard, similarity)
