"""What is worth having in a summary of a given length: a budget is a limit, not a duty.

Let R be a summary drawn from e^s L, with s such that R costs the budget on average: one of the model's own summaries
of that length. Sentence i is in R with probability p_i = K_ii. If a summary agrees with R by F (of what both cost on
average, the share that they have in common), then one more sentence, in R with probability p, raises F where p is
above F / 2, and lowers it where it is below: its words cost more than they are likely to be worth. Two summaries that
the model draws agree by

    F = sum of c_i K_ii^2 / sum of c_i K_ii,     and     i is worth having   where   p_i >= F / 2.

A rule, not a theorem: F is that of two draws, not that of the summary. A model that is sure of its choice (F near 1)
asks for sentences that are rather in than out; one that finds all sentences alike excludes none. No other number
enters, so that the rule is the same for a page and for a shelf of books. What repeats the other sentences is left to
the decoder.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.tilt import tilted_kernel
from dpplearn.process import remaining


class Worth(NamedTuple):
    """How likely each sentence is in a summary of one length, and how likely it must be to be worth having."""

    chance: FloatArray
    least: float


def worth_of(
    model: Candidates, cost: FloatArray, room: float, pinned: IntArray, out: IntArray, forms: IntArray | None = None
) -> Worth:
    """Given what must be in and out; `room` is what is left for the others.

    `forms` says which sentence each is a form of: a draw has one form of it, and that may as well be any other, so a
    form is as likely as its sentence is in any form.
    """
    rest = remaining(model.n, pinned, out)
    p = np.zeros(model.n)
    if not rest.size or room <= 0.0:
        return Worth(p, 1.0)
    p[rest] = tilted_kernel(model.conditioned(pinned, out), cost[rest], room, 1e-5).diagonal()
    share = cost * p
    if forms is not None:
        p = np.where(p > 0.0, np.minimum(np.bincount(forms, p)[forms], 1.0), p)
    return Worth(p, float(share @ p / share.sum()) / 2.0)
