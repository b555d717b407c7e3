"""How a shard is evaluated. An evaluator is one class with `prepare`, and its name in `EVALUATORS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations, groupby
from sys import getsizeof
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_choice
from dpplearn._linalg import logdet
from dpplearn._precision import rounding
from dpplearn._run.blas import blas_threads
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import Instance, LikelihoodRequest, Terms
from dpplearn.learning.parts import INDEPENDENT, RESERVED, shared_names
from dpplearn.learning.similarity import Mixture, Similarity
from dpplearn.learning.sized import LostDigitsError
from dpplearn.learning.tables import Encoding
from dpplearn.learning.training_set import Shard

MOST_FEATURE = 1e100  # products of two of them, summed, are floats
SAMPLED = 3  # one instance in so many is in the sample by which starts are compared


class Survey(NamedTuple):
    """What must be known of a shard before the first step."""

    n_instances: int
    n_features: int
    names: tuple[str, ...] | None
    impossible: list[tuple[int, str]]  # instances whose target has probability 0, and why
    low: FloatArray  # smallest f_ij of each feature,
    high: FloatArray  # and the largest
    products: FloatArray  # sum of [F 1]^T [F 1]
    weight: float  # sum of the weights of the possible ones,
    n_chosen: float = 0.0  # of the items chosen in them,
    n_items: float = 0.0  # of all their items,
    sampled: float = 0.0  # and of those in the sample by which starts are compared
    parts: tuple[str, ...] = ()  # names of what a learned similarity is made of
    encoding: Encoding | None = None  # how the features were made of a table
    raw: FloatArray | None = None  # the columns of all items that count, where trees are grown on them,
    sizes: IntArray = np.empty(0, np.int64)  # and how many items each instance has
    same_parts: frozenset[tuple[str, str]] = frozenset()  # parts that are the same matrix in every instance

    @property
    def scale(self) -> FloatArray:
        """Largest |f_ij| of each feature."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def short(self) -> Survey:
        """What is needed to prepare the shard again: which instances count, and of which parts similarities are."""
        nothing = np.empty(0)
        return self._replace(low=nothing, high=nothing, products=nothing, raw=None)


def merge_surveys(surveys: Sequence[Survey]) -> Survey:
    """One survey of all shards, with instances numbered through."""
    start, impossible, names = 0, [], None
    m = surveys[0].n_features
    for k, s in enumerate(surveys):
        if s.n_features != m or (names and s.names and s.names != names):
            raise ValueError(
                f"Shard {k} has {s.n_features} features ({', '.join(s.names or ['no names'])}), "
                f"and shard 0 has {m}: all must have the same features, in the same order."
            )
        names = names or s.names
        impossible += [(start + t, why) for t, why in s.impossible]
        start += s.n_instances
    raw = [s.raw for s in surveys if s.raw is not None]
    return Survey(
        n_instances=start,
        n_features=m,
        names=names,
        impossible=impossible,
        low=np.min([s.low for s in surveys], axis=0),
        high=np.max([s.high for s in surveys], axis=0),
        products=np.sum([s.products for s in surveys], axis=0),
        weight=sum(s.weight for s in surveys),
        n_chosen=sum(s.n_chosen for s in surveys),
        n_items=sum(s.n_items for s in surveys),
        sampled=sum(s.sampled for s in surveys),
        parts=shared_names([s.parts for s in surveys], "Shard {}"),
        encoding=next((s.encoding for s in surveys if s.encoding is not None), None),
        raw=np.concatenate(raw) if raw else None,
        sizes=np.concatenate([s.sizes for s in surveys]),
        same_parts=frozenset.intersection(*(s.same_parts for s in surveys)),
    )


class Prepared(Protocol):
    """Instances made ready for many evaluations."""

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        """The sum over the instances, each times its weight; `request.per_item` in the order of the shard."""


class Evaluator(Protocol):
    """Makes shards ready. It travels to where they live: it must pickle."""

    def prepare(self, shard: Shard, similarity: Similarity) -> Prepared:
        """A shard of instances that all count: none has weight 0, and none is impossible under this similarity."""


class OneByOne:
    """The numpy evaluator: one instance after the other, each with LAPACK's factors."""

    def prepare(self, shard: Shard, similarity: Similarity) -> PreparedInstances:
        return PreparedInstances(shard, similarity)


class PreparedInstances:
    """Instances that keep what does not change between evaluations; targets of the same items are one instance."""

    def __init__(self, shard: Shard, similarity: Similarity) -> None:
        self.instances: list[Instance] = []
        self.largest = max(items.n for items in shard.item_sets)
        start = 0
        for _, same in groupby(shard.item_sets, key=id):
            end = start + len(list(same))
            weights = shard.weights[start:end].tolist()
            self.instances.append(Instance(shard.item_sets[start], shard.subsets[start:end], weights, similarity))
            start = end

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        with blas_threads(self.largest):
            return request.total([(1.0, instance.evaluate(request)) for instance in self.instances])

    def __sizeof__(self) -> int:
        return sum(instance.nbytes for instance in self.instances)


@dataclass(frozen=True, eq=False)
class PreparedShard:
    """A shard where it lives: what is known of it, and its instances that count, made ready."""

    survey: Survey
    ready: Prepared | None
    sample: Prepared | None = None  # where the similarity is learned

    @classmethod
    def of(
        cls,
        shard: Shard,
        evaluator: Evaluator,
        similarity: Similarity,
        with_columns: bool = False,
        survey: Survey | None = None,
    ) -> PreparedShard:
        """Survey a shard, unless that was done before, and leave out what does not count."""
        survey = survey or survey_of(shard, similarity)
        similarity = similarity.bind(survey.parts) if isinstance(similarity, Mixture) else similarity
        skip = {t for t, _ in survey.impossible}
        keep = [t for t, w in enumerate(shard.weights.tolist()) if w > 0 and t not in skip]
        if with_columns and keep:
            item_sets = [shard.item_sets[t] for t in keep]
            sizes = np.array([items.n for items in item_sets], np.int64)
            survey = survey._replace(raw=np.concatenate([items.columns for items in item_sets]), sizes=sizes)
        ready = evaluator.prepare(shard.pick(keep), similarity) if keep else None
        if not isinstance(similarity, Mixture):
            return cls(survey, ready)
        some = [t for t in keep if is_sampled(shard.item_sets[t], shard.subsets[t])]
        survey = survey._replace(sampled=float(shard.weights[some].sum()))
        return cls(survey, ready, evaluator.prepare(shard.pick(some), similarity) if some else None)

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        """The sum over the instances that count, or over the sample of them."""
        ready = self.sample if request.sample else self.ready
        try:
            return request.total(()) if ready is None else ready.evaluate(request)
        except LostDigitsError:
            if not isinstance(request.similarity, Mixture):
                raise
            return request.impossible()  # a nugget that is too small to tell: a step that came here is turned back

    def __sizeof__(self) -> int:  # a scheduler that thinks this small would move it about
        return getsizeof(self.ready)


def is_sampled(items: ItemSet, Y: IntArray) -> bool:
    """Whether an instance is in the sample; its content decides, so that no layout of files changes the answer."""
    return crc32(Y.tobytes(), crc32(items.features.tobytes())) % SAMPLED == 0


# Where each is found when first asked for ("module:class"), or what makes it.
EVALUATORS: dict[str, str | Callable[..., Evaluator]] = {
    "numpy": OneByOne,
    "torch": "dpplearn.torch.evaluator:Batches",
}
ON_DEVICES = ("torch",)  # those that are made for a device


def make_evaluator(evaluator: str | Evaluator, device: Any = None) -> Evaluator:
    """The evaluator of a name, or the one given; of a name that works on devices, for this one."""
    made: Any = evaluator
    placed = isinstance(evaluator, str) and evaluator in ON_DEVICES
    if device is not None and not placed:
        raise ValueError(f'device={device!r} is for evaluator="torch"; found evaluator={evaluator!r}. Leave it out.')
    if isinstance(evaluator, str):
        made = EVALUATORS[check_choice(evaluator, "evaluator", tuple(EVALUATORS))]
        if isinstance(made, str):
            module, _, name = made.partition(":")
            made = getattr(import_module(module), name)
        made = made(device) if placed else made()
    if not callable(getattr(made, "prepare", None)):
        raise TypeError(
            f"evaluator must be one of {', '.join(map(repr, EVALUATORS))}, or an object with "
            f"prepare(shard, similarity); found {type(made).__name__}."
        )
    return made


def survey_of(shard: Shard, similarity: Similarity) -> Survey:
    """The survey of a shard, the same for all evaluators."""
    learned = isinstance(similarity, Mixture)  # its nugget is never 0: all is possible
    impossible, weight, n_chosen, n_items = [], 0.0, 0.0, 0.0
    m = shard.item_sets[0].n_features
    low, high, products = np.full(m, np.inf), np.full(m, -np.inf), np.zeros((m + 1, m + 1))
    names, encoding = None, None
    for t, (items, Y, w) in enumerate(zip(shard.item_sets, shard.subsets, shard.weights.tolist(), strict=True)):
        if w > 0 and not learned and (why := why_impossible(items, Y, similarity)):
            impossible.append((t, why))
        else:
            weight, n_chosen, n_items = weight + w, n_chosen + w * len(Y), n_items + w * items.n
        F = np.column_stack([items.features, np.ones(items.n)])
        low, high = np.minimum(low, F.min(axis=0)[:-1]), np.maximum(high, F.max(axis=0)[:-1])
        with np.errstate(over="ignore", invalid="ignore"):  # features that are too large are told below
            products += F.T @ F
        names, encoding = names or items.names, encoding or items.encoding
    largest = np.maximum(np.abs(low), np.abs(high))
    if largest.max() > MOST_FEATURE:
        j = int(largest.argmax())
        raise ValueError(
            f"Feature {repr(names[j]) if names else j} has values up to {largest[j]:.3g}, and learning needs values of "
            f"at most {MOST_FEATURE:g}, because it multiplies them with each other. Divide the column by its largest "
            "value."
        )
    parts: tuple[str, ...] = ()
    if learned:
        parts = shared_names([items.part_names for items in shard.item_sets])
        if parts == (INDEPENDENT,):
            raise ValueError(
                'similarity="mixture" learns what makes items alike, and these item sets have neither phi nor '
                'S. Give them one, or fit with similarity="fixed".'
            )
    known = (len(shard), m, names, impossible, low, high, products, weight, n_chosen, n_items)
    return Survey(*known, parts=parts, encoding=encoding, same_parts=same_parts(shard.item_sets, learned))


def same_parts(item_sets: Sequence[ItemSet], learned: bool) -> frozenset[tuple[str, str]]:
    """Parts of the similarity that are the same matrix in all of these; one that is learned also has I and 11^T."""
    names = (*RESERVED, *item_sets[0].part_names) if learned else item_sets[0].part_names
    pairs = set(combinations(names, 2)) - {RESERVED}
    for items in item_sets:
        if not pairs:
            break
        place = {name: j for j, name in enumerate(items.part_names)}
        fixed = {"own": np.eye(items.n), "all": np.ones((items.n, items.n))}
        known = {
            name: fixed[name] if name in fixed else items.part_cosines(place[name]) for name in set().union(*pairs)
        }
        pairs = {(a, b) for a, b in pairs if np.allclose(known[a], known[b], rtol=0.0, atol=1e-9)}
    return frozenset(pairs)


def why_impossible(items: ItemSet, Y: IntArray, similarity: Similarity) -> str | None:
    """Why the target has probability 0 whatever the qualities are, or None."""
    S_Y = similarity.block(items, Y)
    if logdet(S_Y) > -np.inf:
        return None
    close = np.argwhere(np.triu(np.abs(S_Y) ** 2 > 1 - rounding(Y.size), 1))
    if close.size:
        i, j = Y[close[0]]
        return f"its target holds items {i} and {j}, which are duplicates of each other (similarity 1)"
    d = similarity.rank(items)
    if d is not None and Y.size > d:
        return f"its target holds {Y.size} items, and {d} similarity features allow at most {d}"
    return "the similarity features of the items in its target are linearly dependent"
