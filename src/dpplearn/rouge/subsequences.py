"""ROUGE-L and ROUGE-W: the union of longest common subsequences, line by line."""

import numpy as np

from dpplearn.rouge.combine import Sizes, plain_sum
from dpplearn.rouge.metrics import Subsequence
from dpplearn.rouge.numbered import Lines, Numbered

MOST_CELLS = 1 << 30  # of one pair of lines: 1 GB for the way back through the table


class SubsequenceCounter:
    """Hits of candidates against prepared references: single ones, or runs of k as k^weight."""

    width = 0  # cells of arrays made for all candidates at once: there are none

    def __init__(self, metric: Subsequence, texts: Numbered) -> None:
        self.runs, self.references = metric.runs, texts.lines
        lengths = [line_lengths(text) for text in texts.lines]
        self.longest = max(map(max, lengths))
        power = [float(k) ** metric.weight for k in range(self.longest + 1)]
        self.power = np.array(power)
        each = [plain_sum(power[length] for length in lines) for lines in lengths]
        self.sizes = Sizes.of(each, metric.weight, lines=True)

    def size(self, length: int) -> int:
        """Return the size of a candidate of so many tokens: the tokens, whatever its lines."""
        return length

    def hits(self, texts: Numbered) -> list[list[float]]:
        """Return the hits of each candidate against each reference."""
        from dpplearn.rouge._loops import subsequence_hits  # here: numba takes a moment to import

        check_size(self.longest, max(max(line_lengths(text)) for text in texts.lines))
        found = []
        for text in texts.lines:
            pairs = [subsequence_hits(reference, text, self.power) for reference in self.references]
            found.append([float(weighted if self.runs else hits) for hits, weighted in pairs])
        return found


def line_lengths(text: Lines) -> list[int]:
    """Return the number of tokens on each line; where there is no line, as if it were one without tokens."""
    return np.diff(text.ends, prepend=0).tolist() or [0]


def check_size(m: int, n: int) -> None:
    if m * n > MOST_CELLS:
        raise ValueError(
            f"ROUGE-L and ROUGE-W align line with line, but {m:,} by {n:,} tokens is too much. "
            "Put one sentence on each line, or leave these metrics out."
        )
