"""The compiled loop of ROUGE-L and ROUGE-W.

It is not compiled by `jit`, which lets the compiler reorder sums, because here every digit counts.
"""

from typing import Any, NamedTuple

import numpy as np

from dpplearn._numba import strict_jit


class AlignmentTable(NamedTuple):
    """What `mark_common` writes for a pair of lines, with room for the longest lines."""

    up_wins: Any  # whether the way back goes up, by token of the reference and of the candidate
    cells: Any  # the weight of the best alignment, in the last row and the row before
    runs: Any  # the length of the run that ends in the cell
    marked: Any  # the tokens of the reference on a common subsequence with any line of the candidate


@strict_jit(steps=lambda ref, cand: 4 * ref.ids.size * (1 + cand.ids.size))
def subsequence_hits(ref, cand, power, n):
    """The number of hits of a candidate against one reference (ROUGE-L), and the weight of their runs (ROUGE-W).

    ref and cand are `LineTokens`, power[k] = k^weight up to the longest line of ref, and n is the longest line of cand.
    """
    m = power.size - 1
    cells, runs = np.empty((2, n + 1)), np.empty((2, n + 1), np.int64)
    table = AlignmentTable(np.empty((m, n), np.bool_), cells, runs, np.empty(m, np.bool_))
    ref_left, cand_left = ref.counts.copy(), cand.counts.copy()
    hits, weighted, start = 0, 0.0, 0
    for end in ref.ends:
        line, marked = ref.ids[start:end], table.marked
        marked[:] = False
        cand_start = 0
        for cand_end in cand.ends:
            mark_common(line, cand.ids[cand_start:cand_end], power, table)
            cand_start = cand_end
        run = 0
        for i, token in enumerate(line):
            if marked[i] and ref_left[token] > 0 and cand_left[token] > 0:
                ref_left[token] -= 1
                cand_left[token] -= 1
                hits += 1
                run += 1
                if i + 1 == line.size or not marked[i + 1]:  # a marked token that is used up does not end a run
                    weighted += power[run]
                    run = 0
        start = end
    return hits, weighted


@strict_jit
def mark_common(ref, cand, power, table):
    """Mark the positions of the line ref that are on one longest common subsequence with the line cand."""
    cells, runs = table.cells, table.runs
    cells[0, : cand.size + 1] = 0.0
    runs[0, : cand.size + 1] = 0
    cells[1, 0] = 0.0
    runs[1, 0] = 0
    for i in range(ref.size):
        old, new = i % 2, 1 - i % 2
        for j in range(cand.size):
            if ref[i] == cand[j]:
                k = runs[old, j]
                cells[new, j + 1] = cells[old, j] + power[k + 1] - power[k]  # in this order: ties depend on it
                runs[new, j + 1] = k + 1
            else:
                up, left = cells[old, j + 1], cells[new, j]
                table.up_wins[i, j] = up >= left
                cells[new, j + 1] = max(up, left)
                runs[new, j + 1] = 0
    i, j = ref.size - 1, cand.size - 1
    while i >= 0 and j >= 0:
        if ref[i] == cand[j]:
            table.marked[i] = True
            i -= 1
            j -= 1
        elif table.up_wins[i, j]:
            i -= 1
        else:
            j -= 1
