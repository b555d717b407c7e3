"""What goes into the loops and comes out of them: named tuples and codes.

No numba here: the loops read these as they are compiled, and everyone else without importing a compiler.
"""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

# What the greedy rule divides by the weight of an item: g - 1, log g, or log g where it is a gain
PROBABILITY, LOG, SIGNED = 0, 1, 2
# Why a greedy run ended
FULL, SIZE, NO_ROOM, NO_GAIN, DEPENDENT, IMPOSSIBLE, QUOTA = 0, 1, 2, 3, 4, 5, 6
# Why a lazy run stopped before its end: for work that Python shares among threads, or for room
REFRESH, EVALUATE, GROW = 10, 11, 12
# Places of Lazy.at: items and directions taken; the heap's size; work since the last pass, and directions then;
# candidates that left, by reason; items in the block; items still owed to groups; repeats that wait, directions noted,
# and items taken before the first repeat (-1 until then)
TAKEN, KNOWN, HEAP, WORK, LAST, DEAR, BARRED, LOW, LINEAR, BLOCK, OWED, WAITING, NOTED, DISTINCT = range(14)
# Places of Lazy.spent: on items taken; the least that what is owed to groups will cost; the cheapest candidate
SPENT, PLEDGED, CHEAPEST = range(3)
CHOSEN = -(2**30)  # in Lazy.done: of an item that was taken
WAITS = 2  # in `alive`: of a repeat of an item that was taken


class Wanted(NamedTuple):
    """What a greedy run is to choose."""

    cost: Array  # (n,)
    weight: Array  # (n,) what scores are divided by
    rule: int  # PROBABILITY, LOG or SIGNED
    floor: float  # candidates whose gain is not above this leave
    room: float  # for the sum of costs
    k: int
    forced: Array  # items that come first, in this order
    group: Array  # (n,) items of the same number exclude each other; empty where none does


class FeatureRows(NamedTuple):
    """L_ij = scale_i scale_j <rows_i, rows_j> off the diagonal, from dense rows or csr arrays; the other is empty."""

    rows: Array  # (n, d); of float16 the bits as uint16
    half: Array  # what each of the 65536 float16 is, where rows are such; else empty
    indptr: Array
    indices: Array
    data: Array  # empty beside dense rows; then of the type in which products with them are
    scale: Array  # (n,)
    diag: Array  # (n,) L_ii
    own: Array  # (n,) the part of L_ii that is in no other item's row
    noise: float  # share of L_ii that is only rounding


class Quota(NamedTuple):
    """Groups of items, each with limits on how many are chosen; all empty where there are none."""

    group: Array  # (n,) the group of each item
    most: Array  # (groups,) how many more may be chosen
    need: Array  # (groups,) how many more must be
    mark: Array  # (groups,) the dearest of the cheapest that would do for that
    order: Array  # (n,) items by group, and in each by cost
    starts: Array  # (groups + 1,) where each group starts there


NO_QUOTA = Quota(*(np.empty(0, kind) for kind in (np.int64, np.int64, np.int64, np.float64, np.int64, np.int64)))


class Seen(NamedTuple):
    """Directions chosen so far, so that an item which repeats one waits; all empty where none has to."""

    axes: Array  # (AXES, d)
    places: Array  # (room, AXES) of each direction noted
    slots: Array  # (a power of two,) rows of places, by where they are along the first axis; -1 where free
    here: Array  # (AXES,) work space
    width: float  # up to which places are the same


NOBODY = Seen(np.empty((0, 0)), np.empty((0, 0)), np.empty(0, np.int64), np.empty(0), 0.0)


class Lazy(NamedTuple):
    """A lazy run over rows, which can stop and go on."""

    g: Array  # (n,) gains when last computed: upper bounds
    done: Array  # (n,) how many directions they know of
    key: Array  # (n,) a heap of scores, and whose they are
    idx: Array
    tie: Array  # (n,) what prefers the cheaper of equals; empty where all cost the same
    items: Array  # (k,) chosen, with their gains
    gains: Array
    U: Array  # directions taken so far; none in the dual form
    short: Array  # those that passes over rows read: U in the type of the rows, or the last ones, twice
    P: Array  # (d, d) the dual form: g_i = own_i + b_i^T P b_i; else empty
    b: Array  # (d,) work space
    v: Array
    block: Array  # items to be evaluated by P at once
    at: Array  # counts: their places are above
    spent: Array  # sums of costs, likewise


class Run(NamedTuple):
    """Items in order, the gain g of each (a factor of the probability), the code of the end, and how many of the last
    items repeat others."""

    items: Array
    gains: Array
    end: int
    repeats: int


def how_many(wanted: Wanted) -> float:
    """Items that fit, if they cost what items do on average."""
    mean = float(wanted.cost.mean()) if wanted.cost.size else 0.0
    return min(wanted.k, wanted.cost.size, 1.0 + wanted.room / mean if mean > 0.0 else np.inf)


class Chain(NamedTuple):
    """A Markov chain's set Y with the Cholesky factor C of L_Y."""

    A: Array  # L; or only one row of it, that of the item looked at; or B with L = B B^T
    gram: bool  # whether it is B
    Y: Array
    inside: Array  # (n,) whether an item is in Y
    C: Array
    b: Array  # work space, as long as Y
    z: Array


class Tables(NamedTuple):
    """What sampling needs of a spectrum; made once, read by every block."""

    p: Array  # (h,) probabilities >= 1/2 of the first h columns of V, descending
    hazard: Array  # (m - h,) running sum of -log(1 - p) over the other columns
    guide: Array  # (g + 1,) first column whose hazard passes each of g equal steps
    log_esp: Array  # (k + 1, m + 1) log elementary symmetric polynomials for a k-DPP, else (0, 0)
    V: Array  # (n, m) orthonormal columns
    accept: Array  # (m, n) alias tables of v_j(i)^2; (0, 0) where only a few samples are wanted
    alias: Array  # (m, n) int32


class Work(NamedTuple):
    """What one stream of samples writes on; `draw` leaves its sample in items."""

    J: Array  # (m,) columns chosen in phase 1
    items: Array  # (n,) items chosen in phase 2
    left_out: Array  # (n,) marks, to turn a set into its complement
    E: Array  # orthonormal rows that span the items taken so far
    row: Array  # (m,) the row of the item just taken
    dots: Array  # (m,) its products with the rows of E
    waiting: Array  # (BATCH, m + 1) rows proposed but not yet looked at, and their items


class Unless(NamedTuple):
    """Samples that need not be finished: of another size, or of costs that cannot come to be from low to high."""

    cost: Array  # (n,); empty where all are finished
    low: float
    high: float
    cheapest: float  # of an item
    dearest: float
    smallest: int  # number of items
    largest: int


NEVER = Unless(np.empty(0), 0.0, 0.0, 0.0, 0.0, 0, 0)


class Jumps(NamedTuple):
    """What `_loops/jumps.py` reads; block i has the items from starts[i] to starts[i + 1]."""

    Q: Array  # (n, d)
    left: Array  # (n, d) Q times the W of the block
    W: Array  # (blocks + 1, d, d)
    log_rest: Array  # (blocks + 1,) log det(I + G_i T), descending to 0
    starts: Array  # (blocks + 1,)
    sure: Array  # (m, d) the rows of items that are chosen already, which are not among the n
