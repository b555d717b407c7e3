"""From documents to a summary in one call."""

from __future__ import annotations

import os
from typing import Any

from dpplearn.summarize.corpora.given import Given, as_cluster
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import Budget, Unit


def summarize(
    given: Given,
    budget: Budget | None = None,
    unit: Unit | None = None,
    *,
    model: str | os.PathLike[str] | Summarizer | None = None,
    encoding: str | None = None,
    language: str | None = None,
    **options: Any,
) -> Summary:
    """A summary of texts, paths, bytes or a Cluster, in one call; options as in `Summarizer.summarize`.

    Parameters
    ----------
    given : str, path, bytes, Document, several of these, or a Cluster
        As in `Summarizer.summarize`.
    budget, unit : optional
        As there: `budget="20%"` is a fifth of the words; without both, what suits the length of the texts, or what
        `model` was trained for.
    model : Summarizer or path, optional
        The model for any language that comes with dpplearn by default.
    encoding, language : str, optional
        Of files; of the texts, for a warning where the model is for another.

    Examples
    --------
    >>> print(summarize("A storm sank ten boats on Friday. Nobody was hurt. Shops were shut.", budget=7))
    A storm sank ten boats on Friday.
    """
    summarizer = model if isinstance(model, Summarizer) else Summarizer.load(model)
    return summarizer.summarize(as_cluster(given, encoding=encoding, language=language), budget, unit, **options)
