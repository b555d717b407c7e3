"""The loop under ROUGE-L and ROUGE-W: arrays and numbers in, numbers out.

The decorator is not that of `dpplearn._loops`, which lets the compiler reorder sums: here every digit counts.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call, with every operation in the order written."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder for its cache
        return njit(nogil=True)(function)


@exact
def subsequence_hits(ref, ref_ends, cand, cand_ends, ref_left, cand_left, power):
    """Hits of a candidate against one reference: their number (ROUGE-L), and their runs' weight (ROUGE-W).

    ref and cand hold the lines one after the other, line k ending before ref_ends[k]; ref_left and cand_left
    are the counts of every token, used up here; power[k] = k^weight.
    """
    longest_ref, longest_cand = longest(ref_ends), longest(cand_ends)
    marked = np.empty(longest_ref, np.bool_)
    up_wins = np.empty((longest_ref, longest_cand), np.bool_)
    cells = np.empty((2, longest_cand + 1))
    runs = np.empty((2, longest_cand + 1), np.int64)
    hits, weighted, start = 0, 0.0, 0
    for end in ref_ends:
        marked[:] = False
        cand_start = 0
        for cand_end in cand_ends:
            mark_common(ref, start, end, cand, cand_start, cand_end, power, up_wins, cells, runs, marked)
            cand_start = cand_end
        run = 0
        for i in range(end - start):
            token = ref[start + i]
            if marked[i] and ref_left[token] > 0 and cand_left[token] > 0:
                ref_left[token] -= 1
                cand_left[token] -= 1
                hits += 1
                run += 1
                if i + 1 == end - start or not marked[i + 1]:  # not so where a position used up comes next
                    weighted += power[run]
                    run = 0
        start = end
    return hits, weighted


@exact
def longest(ends):
    most, start = 0, 0
    for end in ends:
        most = max(most, end - start)
        start = end
    return most


@exact
def mark_common(ref, a, b, cand, c, d, power, up_wins, cells, runs, marked):
    """Mark the positions of ref[a:b] on one longest common subsequence with cand[c:d]."""
    m, n = b - a, d - c
    cells[0, : n + 1] = 0.0
    runs[0, : n + 1] = 0
    cells[1, 0] = 0.0
    runs[1, 0] = 0
    for i in range(m):
        old, new = i % 2, 1 - i % 2
        for j in range(n):
            if ref[a + i] == cand[c + j]:
                k = runs[old, j]
                cells[new, j + 1] = cells[old, j] + power[k + 1] - power[k]  # left to right: ties depend on it
                runs[new, j + 1] = k + 1
            else:
                up, left = cells[old, j + 1], cells[new, j]
                up_wins[i, j] = up >= left
                cells[new, j + 1] = max(up, left)
                runs[new, j + 1] = 0
    i, j = m - 1, n - 1
    while i >= 0 and j >= 0:
        if ref[a + i] == cand[c + j]:
            marked[i] = True
            i -= 1
            j -= 1
        elif up_wins[i, j]:
            i -= 1
        else:
            j -= 1
