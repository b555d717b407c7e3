"""A heap of items, the best in front: larger key, then larger tie, then smaller item number."""

from dpplearn._loops.jit import jit


@jit
def before(key, idx, tie, a, b):
    """Whether place a of the heap goes before place b.

    `tie` (n,) are the gains for the rule of probabilities, where g - 1 is the same float for all small g; else what
    prefers the cheaper, or empty where costs are equal.
    """
    if key[a] != key[b]:
        return key[a] > key[b]
    if tie.size > 0 and tie[idx[a]] != tie[idx[b]]:
        return tie[idx[a]] > tie[idx[b]]
    return idx[a] < idx[b]


@jit
def sift(key, idx, tie, size, a):
    """Move the entry at place a down to where the heap is in order again."""
    while True:
        b = 2 * a + 1
        if b >= size:
            return
        if b + 1 < size and before(key, idx, tie, b + 1, b):
            b += 1
        if not before(key, idx, tie, b, a):
            return
        key[a], key[b] = key[b], key[a]
        idx[a], idx[b] = idx[b], idx[a]
        a = b


@jit
def rise(key, idx, tie, a):
    """Move the entry at place a up to where the heap is in order again."""
    while a > 0 and before(key, idx, tie, a, (a - 1) // 2):
        b = (a - 1) // 2
        key[a], key[b] = key[b], key[a]
        idx[a], idx[b] = idx[b], idx[a]
        a = b


@jit
def pop(key, idx, tie, size):
    """Take the front off a heap of this size."""
    key[0], idx[0] = key[size - 1], idx[size - 1]
    sift(key, idx, tie, size - 1, 0)
