"""Why a good sentence is not in a summary: the first of these reasons that holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpplearn.summarize.text.units import joined_length, measured, unit_name

if TYPE_CHECKING:
    from dpplearn.summarize.explain.summary import Summary

REDUNDANT = 0.3  # the share of a sentence that is said already, above which that is the reason


def reason(summary: Summary, i: int, redundancy: float) -> str:
    """Why sentence i was left out, in a few words.

    It was excluded; has the words of another; is longer than the budget; is said already; is weaker than all that was
    chosen, though short enough to replace one; does not fit beside them; or the decoder found a better set.
    """
    read, unit = summary.read, unit_name(summary.unit)
    if i in summary.excluded:
        return "excluded"
    words = sorted(read.words[i])
    same = [j for j, other in enumerate(read.words) if len(other) == len(words) and sorted(other) == words]
    same = [j for j in same if j in summary.items] or [j for j in same if j not in summary.excluded]
    twin = same[0]  # of sentences with the same words, the one that was considered
    if twin != i:
        sentence = read.sentences[twin]
        document = read.cluster.documents[sentence.document].id
        return f"has the words of {document}, sentence {sentence.position}"
    alone = joined_length([read.texts[i]], summary.unit)
    if alone > summary.budget:
        return f"longer than the budget: {alone:g} of {measured(summary.budget, summary.unit)}"
    if redundancy >= REDUNDANT:
        return f"{redundancy:.0%} is said already"
    needed = joined_length([*summary.text.split("\n"), read.texts[i]], summary.unit)
    fits, q = needed <= summary.budget, summary.dpp.quality
    if q[i] < q[summary.items].min() and (fits or could_replace(summary, i)):
        return "weaker than every chosen sentence"
    if not fits:
        left = max(summary.budget - summary.length, 0.0)
        return f"does not fit: takes {needed - summary.length:g}, with {left:g} of {summary.budget:g} {unit} left"
    return "it would fit, but the set is better without it"


def could_replace(summary: Summary, i: int) -> bool:
    """Whether sentence i fits in the place of some chosen one."""
    chosen = [summary.read.texts[j] for j in summary.items]
    swapped = ([*chosen[:k], *chosen[k + 1 :], summary.read.texts[i]] for k in range(len(chosen)))
    return any(joined_length(texts, summary.unit) <= summary.budget for texts in swapped)
