"""The selection that a decoder returns: the chosen set, and why each item was kept or skipped."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, NamedTuple, Self

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, is_tensor, read_only, view
from dpplearn._linalg import to_dense
from dpplearn.decoding.candidates import Candidates, Embedded, read_features
from dpplearn.decoding.limits import Limits, fits

HOST, ON_DEVICE = (f"dpplearn.torch.selecting:{name}" for name in ("host", "OnDevice"))  # imported with a tensor
MAX_SHOWN = 20  # items that `repr` shows
COSINES = 2**24  # most cosines computed at once
TOP_SHARE = 0.9  # a score above this share of all scores is one of the best
ADDED_MORE = {0.0: "by score alone", 1.0: "by variety alone"}  # by diversity: how the others added more
SIMILAR_FROM = 0.5  # from this cosine with a chosen item on, the similarity is the reason why an item was skipped


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """A chosen set, and how it was reached.

    Attributes
    ----------
    subset : int array
        The items in the order of selection. Decoders that find a set as a whole order it by gain.
    sorted_subset : int array
        The same items, ascending.
    log_prob : float
        log P(subset) under the model as it was given, whatever the `diversity`. It is computed when first asked for,
        because the normalizer costs more than a greedy run, and from then on `repr` shows it. Features of more than
        1 MiB are read from the caller's array at that time, and it is an error if they were changed meanwhile.
    cost : float
        Total cost of the items.
    gains : float array
        log of the factor by which each item raised the probability when it was added: log det L_Y = gains.sum().
        At diversity 0.5, log_prob = log P(empty set) + gains.sum().
    reason : str
        Why the run ended, or why the set is empty or short.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> from dpplearn.decoding import greedy_map
    >>> chosen = greedy_map(DPP([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]]), k=2)
    >>> chosen.subset, chosen.sorted_subset, chosen.gains.round(3)
    (array([1, 2]), array([1, 2]), array([1.386, 0.693]))
    >>> chosen.reason
    'the size limit of 2 items is reached'
    """

    subset: IntArray
    cost: float
    gains: FloatArray
    reason: str
    log_prob_of: Callable[[IntArray], float] = field(repr=False)  # log P of a set under the model as given

    def __post_init__(self) -> None:
        self.subset.setflags(write=False)
        self.gains.setflags(write=False)

    @classmethod
    def nothing(cls, reason: str, log_prob_of: Callable[[IntArray], float], *more: Any) -> Self:
        """The empty set with the reason, and `more` attributes of a decoder's own selection."""
        return cls(np.empty(0, np.int64), 0.0, np.empty(0), reason, log_prob_of, *more)

    @classmethod
    def of(cls, selection: Selection, reason: str, *more: Any) -> Self:
        """A selection with another reason, and `more` attributes of a decoder's own selection."""
        return cls(selection.subset, selection.cost, selection.gains, reason, selection.log_prob_of, *more)

    @cached_property
    def log_prob(self) -> float:
        """log P(subset) under the model as it was given."""
        return float(self.log_prob_of(self.sorted_subset))

    @cached_property
    def sorted_subset(self) -> IntArray:
        """The items, ascending."""
        return view(np.sort(self.subset))

    def __len__(self) -> int:
        return len(self.subset)

    def __repr__(self) -> str:
        log_prob = f" log_prob={self.log_prob:.6g}," if "log_prob" in self.__dict__ else ""  # only once it is computed
        some = self.subset[:MAX_SHOWN].tolist()
        items = f"[{', '.join(map(str, some))}, ... {len(self)} items]" if len(self) > MAX_SHOWN else str(some)
        return f"{type(self).__name__}(subset={items},{log_prob} cost={self.cost:g}, reason={self.reason!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Copies and other processes get log_prob, not the model."""
        if isinstance(self.log_prob_of, Unknown):
            return dict(self.__dict__)
        return self.__dict__ | {"log_prob": self.log_prob, "log_prob_of": EMBEDDINGS_GONE}


@dataclass(frozen=True)
class Unknown:
    """Stands for a log-probability that is not computed, and says why."""

    why: str

    def __call__(self, subset: IntArray) -> float:  # noqa: ARG002  # called like a model's log_prob
        raise RuntimeError(self.why)


EMBEDDINGS_GONE = Unknown(
    "the embeddings are gone, but nearest, kept, skipped and log_prob need them. Keep the embeddings until you have "
    "asked for these; the answers are kept."
)


class Nearest(NamedTuple):
    """For every item, the chosen item most similar to it (-1 if nothing was chosen) and their cosine."""

    items: IntArray
    similarity: FloatArray


class Kept(NamedTuple):
    """A chosen item, the other chosen item most similar to it (-1 if it is alone), and their cosine."""

    item: int
    nearest: int
    similarity: float


class Skipped(NamedTuple):
    """A candidate that was not chosen, the chosen item most similar to it, their cosine, and the reason in words."""

    item: int
    nearest: int
    similarity: float
    reason: str


def read_held(held: Embedded | None) -> Embedded:
    """Items with their embeddings, which are read again if there is only a weak reference to them."""
    owner = held and (held.rows() if isinstance(held.rows, weakref.ref) else held.rows)
    if held is None or owner is None:
        raise RuntimeError(EMBEDDINGS_GONE.why)
    return held._replace(rows=read_features(owner, "embeddings")[0]) if owner is not held.rows else held


def log_prob_of_held(held: Embedded, nugget: float, subset: IntArray) -> float:
    """log P(Y) of a set of items to whose embeddings there is only a weak reference."""
    return Candidates(read_held(held), nugget=nugget).log_prob(subset)


@dataclass(frozen=True, eq=False, repr=False)
class DiverseSelection(Selection):
    """The chosen items, and why the others were not.

    Attributes
    ----------
    shares : float array
        The gain of each item as a share of the largest. From where the shares are small, items could be left out.
    diversity, parameters
        The settings, and the nugget and kernel that were used.
    nearest : Nearest
        For every candidate, the chosen item most similar to it and their cosine. Computed when first asked for.
    kept : list of Kept
        For every chosen item, in their order, the other chosen item most similar to it and their cosine.
    skipped : list of Skipped
        One record for every candidate that was not chosen, with the reason.

    Embeddings of more than 256 MiB are not kept: `nearest`, `kept`, `skipped` and `log_prob` read the caller's array
    when they are first asked for, and raise an error if it is gone by then.

    Examples
    --------
    >>> from dpplearn import diversify
    >>> chosen = diversify([[1, 0], [0.9, 0.1], [0, 1]], [0.9, 0.8, 0.5], k=2)
    >>> chosen.subset
    array([0, 2])
    >>> print(chosen.skipped[0].reason)
    0.99 similar to item 0
    >>> chosen.kept
    [Kept(item=0, nearest=2, similarity=0.0), Kept(item=2, nearest=0, similarity=0.0)]
    """

    diversity: float
    parameters: dict[str, Any]
    limits: Limits = field(repr=False)
    held: Embedded | None = field(repr=False)  # the items; None in a copy

    @property
    def candidates(self) -> Embedded | None:
        """The embeddings that were chosen from, and the items' qualities."""
        return self.held and read_held(self.held)

    @property
    def shares(self) -> FloatArray:
        """exp(gains), as a share of the largest."""
        return np.exp(self.gains - self.gains.max(initial=-np.inf))

    def chosen_items(self) -> Embedded:
        """The embeddings of the chosen items, in their order."""
        return read_held(self.held).part(self.subset)

    @cached_property
    def nearest(self) -> Nearest:
        """The chosen item most similar to each candidate."""
        items = read_held(self.held)
        return nearest_chosen(items, items.part(self.subset), self.subset)

    @cached_property
    def kept(self) -> list[Kept]:
        """Every chosen item, with the other chosen one most similar to it."""
        chosen = self.chosen_items()
        items, similarity = nearest_chosen(chosen, chosen, self.subset)
        rows = zip(self.subset.tolist(), items.tolist(), similarity.tolist(), strict=True)
        return [Kept(*row) for row in rows]

    def why(self, item: int) -> str:
        """Why an item was chosen, in words: its rank by score, or that it had to be in. May be empty."""
        if item not in self.subset:
            raise ValueError(f"item must be one of those chosen, such as {self.subset[:1].tolist()}, found {item!r}.")
        if item in self.limits.include:
            return "being asked for"
        q = None if self.held is None else self.held.q
        if q is None or len(q) != self.limits.cost.size or q.min() == q.max():
            return ""
        below = float((q < q[item]).sum()) / len(q)
        if q[item] == q.max():
            return "the best score"
        return "one of the best scores" if below >= TOP_SHARE else "a good score" if below >= 0.5 else "being different"

    @cached_property
    def skipped(self) -> list[Skipped]:
        """Every candidate that was not chosen, with the reason."""
        return self.skipped_among("item {}".format)

    def skipped_among(self, name: Callable[[int], str]) -> list[Skipped]:
        """As `skipped`, where `name` turns the number of an item into its name in the reasons."""
        limits, left = self.limits, self.limits.budget - self.cost
        barred, full = set(limits.exclude.tolist()), limits.full(self.subset) & bool(limits.names)
        others = f"the others added more, {ADDED_MORE.get(self.diversity, 'for score and variety together')}"
        others = "the set is preferred without it" if len(self) < limits.k else others
        skipped = []
        for i in np.setdiff1d(np.arange(limits.cost.size), self.subset).tolist():
            j, s = int(self.nearest.items[i]), float(self.nearest.similarity[i])
            close = f"{s:.2f} similar to {name(j)}" if j >= 0 else ""
            near = f"; {close}" if j >= 0 and f"{s:.2f}" != "0.00" else ""
            if i in barred:
                reason = "excluded"
            elif full[i]:
                reason = f"as many as may be of its group were chosen{near}"
            elif not fits(self.cost + limits.cost[i], limits.budget):
                reason = f"costs {limits.cost[i]:g}, more than the {left:g} left of the budget{near}"
            elif j < 0:
                reason = self.reason
            elif s >= SIMILAR_FROM and self.diversity > 0.0:  # at 0, similarity was no reason
                reason = close
            else:
                reason = f"{others}; most similar is {name(j)} ({s:.2f})"
            skipped.append(Skipped(i, j, s, reason))
        return skipped

    def __getstate__(self) -> dict[str, Any]:
        """Copies and other processes get the answers, not the embeddings; if these are gone, the answers so far."""
        if self.held is not None and isinstance(self.held.rows, weakref.ref) and self.held.rows() is None:
            return self.__dict__ | {"log_prob_of": EMBEDDINGS_GONE, "held": None}
        return super().__getstate__() | {"nearest": self.nearest, "kept": self.kept, "held": None}


def nearest_chosen(items: Embedded, chosen: Embedded, subset: IntArray) -> Nearest:
    """The chosen item most similar to each of `items`; among equals, the one chosen first. Works by blocks.

    `subset` has the numbers of the chosen items. If `items` is `chosen`, each chosen item is compared with the others.
    """
    themselves = items is chosen
    if is_tensor(items.rows):
        items, chosen = (Embedded(*map(resolve_name(HOST), tensors)) for tensors in (items, chosen))
    scale, length = (np.where(x > 0.0, x, 1.0) for x in (items.lengths, chosen.lengths))
    nearest, similarity = np.full(scale.size, -1), np.zeros(scale.size)
    if subset.size > themselves:
        unit = to_dense(at_least_float32(chosen.rows))
        unit = unit / length[:, None].astype(unit.dtype)
        step = min(16384, max(1, COSINES // subset.size))
        for low in range(0, scale.size, step):
            part = slice(low, min(low + step, scale.size))
            cosines = np.asarray(at_least_float32(items.rows[part]) @ unit.T)
            places = np.arange(len(cosines))
            if themselves:
                cosines[places, low + places] = -np.inf
            best = cosines.argmax(axis=1)
            nearest[part] = subset[best]
            similarity[part] = cosines[places, best] / scale[part]
        np.clip(similarity, -1.0, 1.0, out=similarity)
    read_only(nearest, similarity)
    return Nearest(nearest, similarity)


def at_least_float32(rows: Any) -> Any:
    """The rows, as float32 if they are float16, of which there are no products."""
    return rows.astype(np.float32) if rows.dtype.char == "e" else rows
