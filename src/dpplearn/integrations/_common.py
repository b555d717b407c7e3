"""Shared code of the adapters: chooses among candidates with texts, embeddings and scores, and notes the reasons."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dpplearn._checks import FloatArray, check_array, check_int
from dpplearn.decoding.diversify import DiverseSelection, diversify
from dpplearn.decoding.limits import check_diversity

NOTE = "dpplearn"  # the key of the note in a chosen document's metadata
SHOWN = 80  # characters of a skipped text that a note repeats
ESTIMATED = (
    "max_tokens counts one token for every four bytes, which are four characters of English. For a true count pass "
    'count_tokens=, a function from text to int: lambda text: len(tiktoken.get_encoding("cl100k_base").encode(text)).'
)

Item = TypeVar("Item")
TokenCounter = Callable[[str], int]
Quota: TypeAlias = "int | dict[Any, int] | None"  # for every group, or for those named


@contextmanager
def framework(package: str, adapter: str) -> Iterator[None]:
    """Wraps the imports of an adapter, so that an import error says what to install."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{adapter} needs {package} ({error}): pip install {package}.") from None


@dataclass(frozen=True, eq=False)
class ChosenCandidates:
    """Which candidates were chosen, in order, and why the others were not."""

    selection: DiverseSelection
    texts: Sequence[str]

    @property
    def order(self) -> list[int]:
        """Numbers of the chosen candidates, best first."""
        return self.selection.subset.tolist()

    @property
    def skipped(self) -> list[dict[str, Any]]:
        """Every other candidate: its number, that of the nearest chosen one, their cosine, the reason, some text."""
        rows = ((*record, self.texts[record.item][:SHOWN]) for record in self.selection.skipped)
        return [dict(zip(("candidate", "nearest", "similarity", "reason", "text"), row, strict=True)) for row in rows]

    def kept(self, candidates: Sequence[Item], annotate: Callable[[Item, dict[str, Any]], Item]) -> list[Item]:
        """The chosen candidates, best first. `annotate` copies a candidate and adds its note to the metadata.

        A note has the candidate's rank, its number, and the skipped candidates that are nearest to it.
        """
        near: dict[int, list[dict[str, Any]]] = {i: [] for i in self.order}
        for record in self.skipped if near else []:
            near[record.pop("nearest")].append(record)
        return [
            annotate(candidates[i], {NOTE: {"rank": rank, "candidate": i, "skipped": near[i]}})
            for rank, i in enumerate(self.order)
        ]


@dataclass(frozen=True)
class Chooser:
    """`diversify` with a limit in items, tokens or both, and the settings that all adapters have."""

    k: int | None = None
    max_tokens: int | None = None
    count_tokens: TokenCounter | None = None
    diversity: float = 0.5
    groups: str | None = None
    max_per_group: Quota = None
    backfill: bool = False
    min_per_group: Quota = None

    @classmethod
    def of(cls, adapter: Any) -> Chooser:
        """A chooser with the settings of an adapter, which it checks."""
        return cls(**{name: getattr(adapter, name) for name in cls.__dataclass_fields__})

    def __post_init__(self) -> None:
        check_diversity(self.diversity)
        if (self.groups is None) != (self.max_per_group is None and self.min_per_group is None):
            raise ValueError("groups, a field of the metadata, and max_per_group or min_per_group go together.")
        for name, number in (("k", self.k), ("max_tokens", self.max_tokens)):
            if number is not None:
                check_int(number, name, low=1)

    def __call__(
        self, texts: Sequence[str], embeddings: Any, scores: Any, metadata: Sequence[dict[str, Any]]
    ) -> ChosenCandidates:
        """Choose; warn if there was nothing to choose from, or if nothing fits."""
        if not len(texts):
            return ChosenCandidates(diversify(np.empty((0, 1)), []), texts)
        cost = None
        if self.max_tokens is not None:
            if self.count_tokens is None:
                warn_estimated()
            count = self.count_tokens or (lambda text: -(-len(text.encode("utf-8", "replace")) // 4))
            cost = [max(count(text), 1) for text in texts]  # an empty text costs 1
        limits: dict[str, Any] = {"k": self.k, "budget": self.max_tokens, "cost": cost, "backfill": self.backfill}
        if self.groups is not None:
            limits |= limits_by_group(metadata, self.groups, self.max_per_group, self.min_per_group)
        chosen = diversify(embeddings, scores, diversity=self.diversity, **limits)
        if len(chosen) == len(texts):
            warnings.warn(
                f"All {len(texts)} candidates were selected, so there was nothing to choose from. Retrieve more than "
                "you keep (fetch_k, similarity_top_k, top_k of the retriever), for example four times as many.",
                stacklevel=3,
            )
        elif not len(chosen):
            warnings.warn(f"None of {len(texts)} candidates was selected: {chosen.reason}.", stacklevel=3)
        return ChosenCandidates(chosen, texts)


@cache
def warn_estimated() -> None:
    """Warn, once, that tokens are estimated. We use no tokenizer, because most download their tables."""
    warnings.warn(ESTIMATED, stacklevel=4)


def limits_by_group(metadata: Sequence[dict[str, Any]], name: str, most: Quota, least: Quota) -> dict[str, Any]:
    """Groups and quotas as `diversify` takes them.

    Retrieved candidates differ from query to query: so values that no candidate has are ignored, and min_per_group is
    reduced to the number of candidates that there are.
    """
    values = [fields.get(name) for fields in metadata]
    if all(value is None for value in values):
        raise ValueError(f"No candidate has the field {name!r}: it must be one of {sorted(set().union(*metadata))}.")
    # a candidate without the field is a group of its own
    groups = [f"number {i}" if x is None or x != x else f"value {x!r}" for i, x in enumerate(values)]
    sizes = Counter(group for group in groups if group.startswith("value"))

    def named(bound: Quota) -> dict[str, int]:
        if not isinstance(bound, dict):
            return {} if bound is None else dict.fromkeys(sizes, bound)
        return {f"value {value!r}": number for value, number in bound.items() if f"value {value!r}" in sizes}

    need = {group: min(check_int(number, "min_per_group"), sizes[group]) for group, number in named(least).items()}
    return {"groups": groups, "max_per_group": named(most) or None, "min_per_group": need or None}


def cosines(embeddings: Any, query: Any) -> FloatArray:
    """Cosine of each row with the query; 0 if one of the two is zero."""
    rows, q = check_array(embeddings, "embeddings", 2), check_array(query, "The query's embedding", 1)
    if q.shape != rows.shape[1:]:
        raise ValueError(f"The query's embedding has {q.size} numbers, and those of the documents {rows.shape[1]}.")
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(q)
    return np.divide(rows @ q, lengths, out=np.zeros(len(rows)), where=lengths > 0)


def given_scores(scores: Sequence[float | None], what: str) -> FloatArray | None:
    """The candidates' own scores; None if no candidate has a score."""
    missing = [i for i, score in enumerate(scores) if score is None]
    if len(missing) == len(scores):
        return None
    if missing:
        raise ValueError(f"{what} {missing[0]} has no score, and others have one ({len(missing)} without in all).")
    return np.array(scores, np.float64)


def given_vectors(vectors: Sequence[Any], embed: Callable[[], Any] | None, what: str, advice: str) -> Any:
    """The candidates' own embeddings; if one has none, all are made anew by `embed`."""
    missing = [i for i, vector in enumerate(vectors) if vector is None]
    if not missing:
        return vectors
    if embed is None:
        raise ValueError(f"{what} {missing[0]} has no embedding ({len(missing)} without in all). {advice}")
    return embed()
