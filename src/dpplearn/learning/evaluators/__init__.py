"""How a shard is evaluated. An evaluator is one class with `prepare`, and its name in `EVALUATORS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from sys import getsizeof
from typing import Any, NamedTuple, Protocol

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_choice
from dpplearn._linalg import logdet, to_dense
from dpplearn._precision import rounding
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import Request, Terms
from dpplearn.learning.parts import INDEPENDENT, RESERVED, Shape, shared_shapes
from dpplearn.learning.similarity.learned import Learned
from dpplearn.learning.similarity.record import Similarity
from dpplearn.learning.sized import LostDigitsError
from dpplearn.learning.tables import Encoding
from dpplearn.learning.training_set import Shard

MOST_FEATURE = 1e100  # products of two of them, summed, are floats


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
    n_items: float = 0.0  # and of all their items
    parts: tuple[Shape, ...] = ()  # what similarities are made of
    moment: FloatArray | None = None  # sum of phi^T phi, for kinds that start from it
    encoding: Encoding | None = None  # how the features were made of a table
    raw: FloatArray | None = None  # the columns of all items that count, where trees are grown on them,
    sizes: IntArray = np.empty(0, np.int64)  # and how many items each instance has
    twins: frozenset[tuple[str, str]] = frozenset()  # parts that are the same matrix in every instance

    @property
    def scale(self) -> FloatArray:
        """Largest |f_ij| of each feature."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def short(self) -> Survey:
        """What is needed to prepare the shard again: which instances count, and of which parts similarities are."""
        nothing = np.empty(0)
        return self._replace(low=nothing, high=nothing, products=nothing, moment=None, raw=None)


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
    moments = [s.moment for s in surveys if s.moment is not None]
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
        parts=shared_shapes([s.parts for s in surveys], "Shard {}"),
        moment=np.sum(moments, axis=0) if moments else None,
        encoding=next((s.encoding for s in surveys if s.encoding is not None), None),
        raw=np.concatenate(raw) if raw else None,
        sizes=np.concatenate([s.sizes for s in surveys]),
        twins=frozenset.intersection(*(s.twins for s in surveys)),
    )


class Evaluated(Protocol):
    """Instances made ready for many evaluations."""

    def evaluate(self, request: Request) -> Terms:
        """The sum over the instances, each times its weight; `request.per_item` in the order of the shard."""


class Evaluator(Protocol):
    """Makes shards ready. It travels to where they live: it must pickle."""

    def prepare(self, shard: Shard, similarity: Similarity) -> Evaluated:
        """A shard of instances that all count: none has weight 0, and none is impossible under this similarity."""


@dataclass(frozen=True, eq=False)
class Part:
    """A shard where it lives: what is known of it, and its instances that count, made ready."""

    survey: Survey
    ready: Evaluated | None

    @classmethod
    def of(
        cls,
        shard: Shard,
        evaluator: Evaluator,
        similarity: Similarity,
        with_columns: bool = False,
        survey: Survey | None = None,
    ) -> Part:
        """Survey a shard, unless that was done before, and leave out what does not count."""
        survey = survey or survey_of(shard, similarity)
        if isinstance(similarity, Learned):
            similarity = similarity.bound(survey.parts)
        skip = {t for t, _ in survey.impossible}
        keep = [t for t, w in enumerate(shard.weights.tolist()) if w > 0 and t not in skip]
        pick = Shard([shard.item_sets[t] for t in keep], [shard.subsets[t] for t in keep], shard.weights[keep])
        if with_columns and keep:
            sizes = np.array([items.n for items in pick.item_sets], np.int64)
            survey = survey._replace(raw=np.concatenate([items.columns for items in pick.item_sets]), sizes=sizes)
        return cls(survey, evaluator.prepare(pick, similarity) if keep else None)

    def evaluate(self, request: Request) -> Terms:
        """The sum over the instances that count."""
        try:
            return request.total(()) if self.ready is None else self.ready.evaluate(request)
        except LostDigitsError:
            if not isinstance(request.similarity, Learned):
                raise
            return request.nothing()  # a weight of what is particular to an item that is too small to tell

    def __sizeof__(self) -> int:  # a scheduler that thinks this small would move it about
        return getsizeof(self.ready)


# Where each is found when first asked for ("module:class"), or what makes it.
EVALUATORS: dict[str, str | Callable[..., Evaluator]] = {
    "numpy": "dpplearn.learning.evaluators.one_by_one:OneByOne",
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
    learned = isinstance(similarity, Learned)  # what is particular to an item is never 0: all is possible
    impossible, weight, n_chosen, n_items = [], 0.0, 0.0, 0.0
    for t, (items, Y, w) in enumerate(zip(shard.item_sets, shard.subsets, shard.weights.tolist(), strict=True)):
        if w > 0 and not learned and (why := why_impossible(items, Y, similarity)):
            impossible.append((t, why))
        else:
            weight, n_chosen, n_items = weight + w, n_chosen + w * len(Y), n_items + w * items.n
    low = np.min([items.features.min(axis=0) for items in shard.item_sets], axis=0)
    high = np.max([items.features.max(axis=0) for items in shard.item_sets], axis=0)
    names = next((items.names for items in shard.item_sets if items.names is not None), None)
    check_largest(np.maximum(np.abs(low), np.abs(high)), names)
    rows = (np.column_stack([items.features, np.ones(items.n)]) for items in shard.item_sets)
    products = np.sum([F.T @ F for F in rows], axis=0)
    encoding = next((items.encoding for items in shard.item_sets if items.encoding is not None), None)
    parts: tuple[Shape, ...] = ()
    moment: FloatArray | None = None
    if isinstance(similarity, Learned):
        parts = shared_shapes([tuple(part.shape for part in items.parts) for items in shard.item_sets])
        if [part.name for part in parts] == [INDEPENDENT]:
            raise ValueError(
                f"similarity={similarity.kind!r} learns what makes items alike, and these item sets have neither phi "
                'nor S. Give them one, or fit with similarity="fixed".'
            )
        if similarity.bound(parts).needs_moment:
            moment = np.sum([to_dense(items.phi.T @ items.phi) for items in shard.item_sets], axis=0)  # type: ignore[union-attr]  # phi is there
    known = (len(shard), low.size, names, impossible, low, high, products, weight, n_chosen, n_items)
    return Survey(*known, parts, moment, encoding, twins=same_parts(shard.item_sets, learned))


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


def check_largest(largest: FloatArray, names: tuple[str, ...] | None) -> None:
    """Products of features, of which the Hessian is made, must be floats."""
    if largest.max() > MOST_FEATURE:
        j = int(largest.argmax())
        name = f"Feature {j}" if names is None else f"Feature {names[j]!r}"
        raise ValueError(
            f"{name} has values up to {largest[j]:.3g}, and learning needs values of at most {MOST_FEATURE:g}, because "
            "it multiplies them with each other. Divide the column by its largest value."
        )


def why_impossible(items: ItemSet, Y: np.ndarray, similarity: Similarity) -> str | None:
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
