"""What a decoder returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, read_only
from dpplearn._notebook import card, shown, table

MANY = 20  # items that `repr` shows


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """A chosen set, and how it was reached.

    Attributes
    ----------
    subset : int array
        The items in the order of selection; decoders that find a set as a whole order it by gain.
    sorted_subset : int array
        The same items, ascending.
    log_prob : float
        log P(subset) under the model as it was given (`diversity` changes what is chosen, not this). Computed
        when first asked for, because the normalizer costs more than a greedy run, and then shown by `repr`. It reads
        the model then: features of more than 1 MiB are the caller's own array, and a change to them is an error.
    cost : float
        Total cost of the items.
    gains : float array
        log of what each item, when it was added, multiplied the probability by: log det L_Y = gains.sum(), so
        that at diversity 0.5, log_prob = log P(empty set) + gains.sum().
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
    log_prob_of: Callable[[IntArray], float] = field(repr=False)  # of the model as given

    def __post_init__(self) -> None:
        read_only(self.subset, self.gains)

    @classmethod
    def nothing(cls, reason: str, log_prob_of: Callable[[IntArray], float], *more: Any) -> Self:
        """The empty set, why it is, and what a decoder adds to a selection."""
        return cls(np.empty(0, np.int64), 0.0, np.empty(0), reason, log_prob_of, *more)

    @classmethod
    def of(cls, found: Selection, reason: str, *more: Any) -> Self:
        """What was found, with another reason and what a decoder adds to a selection."""
        return cls(found.subset, found.cost, found.gains, reason, found.log_prob_of, *more)

    @cached_property
    def log_prob(self) -> float:
        """log P(subset) under the model as it was given."""
        return float(self.log_prob_of(self.sorted_subset))

    @cached_property
    def sorted_subset(self) -> IntArray:
        """The items, ascending."""
        items = np.sort(self.subset)
        read_only(items)
        return items

    @property
    def items(self) -> IntArray:
        """The items, ascending: another name of `sorted_subset`."""
        return self.sorted_subset

    def __len__(self) -> int:
        return int(self.subset.size)

    def __repr__(self) -> str:
        known = f" log_prob={self.log_prob:.6g}," if "log_prob" in self.__dict__ else ""  # costs more than the run
        some = self.subset[:MANY].tolist()
        items = f"[{', '.join(map(str, some))}, ... {len(self)} items]" if len(self) > MANY else str(some)
        return f"{type(self).__name__}(subset={items},{known} cost={self.cost:g}, reason={self.reason!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the items in the order of selection, with what each added."""
        items = zip(self.subset.tolist(), self.gains.tolist(), strict=True)
        rows = ((rank, *one) for rank, one in enumerate(items, 1))
        facts = {"items": len(self), "cost": float(self.cost)}
        told = f"<p>{shown(self.reason)}</p>"
        return card(type(self).__name__, told, table(("rank", "item", "log gain"), rows, len(self)), facts=facts)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and other processes get the number, not the model."""
        if isinstance(self.log_prob_of, Unknown):
            return dict(self.__dict__)
        return self.__dict__ | {"log_prob": self.log_prob, "log_prob_of": Known(self.log_prob)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True)
class Known:
    """A log-probability that was computed before."""

    value: float

    def __call__(self, subset: IntArray) -> float:  # noqa: ARG002  # the value is known for the one subset
        return self.value


@dataclass(frozen=True)
class Unknown:
    """Why no log-probability is computed."""

    why: str

    def __call__(self, subset: IntArray) -> float:  # noqa: ARG002  # as other models have it
        raise RuntimeError(self.why)
