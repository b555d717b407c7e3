"""ROUGE-L and ROUGE-W: the union of longest common subsequences, line by line."""

from dataclasses import dataclass

import numpy as np

from dpplearn.rouge.grams import IntArray
from dpplearn.rouge.metrics import Subsequence

MOST_CELLS = 1 << 30  # of one pair of lines: 1 GB for the way back through the table


@dataclass(frozen=True)
class Lines:
    """A text as ROUGE-L sees it: its lines, which are aligned, and its tokens, which are counted.

    Under a byte limit the two are not cut alike (see Limit.cut_for_lcs).
    """

    ids: IntArray  # tokens of the lines, one line after the other
    ends: IntArray  # where each line ends
    counts: IntArray  # how often the text has each token
    total: int  # tokens of the text

    @classmethod
    def number(cls, lines: list[list[str]], tokens: list[str], vocabulary: dict[str, int]) -> "Lines":
        """Number the tokens; those outside the vocabulary are all the same, and match nothing."""
        V = len(vocabulary)
        ids = [vocabulary.get(token, V) for line in lines for token in line]
        ends = np.cumsum([len(line) for line in lines], dtype=np.int64)
        counts = np.bincount([vocabulary.get(token, V) for token in tokens], minlength=V + 1)
        return cls(np.array(ids, np.int64), ends, counts, len(tokens))


class SubsequenceCounter:
    """Hits of candidates against prepared references: single ones, or runs of k as k^weight."""

    def __init__(self, metric: Subsequence, references: list[Lines]) -> None:
        self.weight, self.runs = metric.weight, metric.runs
        self.references = references
        self.longest = max(longest_line(reference) for reference in references)
        self.power = np.array([float(k) ** self.weight for k in range(self.longest + 1)])
        # sum over lines of length^weight, added in order as the official program does
        self.line_weights = [line_weight(reference, self.weight) for reference in references]

    def hits(self, candidate: Lines) -> list[float]:
        """Return the hits against each reference."""
        from dpplearn.rouge._loops import subsequence_hits  # here: numba takes a moment to import

        check_size(self.longest, longest_line(candidate))
        found = []
        for reference in self.references:
            hits, weighted = subsequence_hits(
                *(reference.ids, reference.ends, candidate.ids, candidate.ends),
                *(reference.counts.copy(), candidate.counts.copy(), self.power),
            )
            found.append(float(weighted if self.runs else hits))
        return found


def longest_line(text: Lines) -> int:
    return int(np.diff(text.ends, prepend=0).max(initial=0))


def line_weight(text: Lines, weight: float) -> float:
    total = 0.0
    for length in np.diff(text.ends, prepend=0).tolist():
        total += float(length) ** weight
    return total


def check_size(m: int, n: int) -> None:
    if m * n > MOST_CELLS:
        raise ValueError(
            f"ROUGE-L and ROUGE-W align line with line, but {m:,} by {n:,} tokens is too much. "
            "Put one sentence on each line, or leave these metrics out."
        )
