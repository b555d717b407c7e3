"""Rows of the same direction but for rounding, found by their places along a few random axes.

Two unit rows at distance e are about e apart along each axis of standard normal numbers, so rows that are within
`width` along all of eight are the same; a table of slots finds those near along the first.
"""

import numpy as np

from dpplearn._loops.elimination import dot
from dpplearn._loops.jit import jit


@jit
def locate(b, axes, here):
    """The places of the direction of b; False where it has none, being 0."""
    square = dot(b, b)
    if square <= 0.0:
        return False
    for a in range(here.size):
        here[a] = dot(axes[a], b) / np.sqrt(square)
    return True


@jit
def first_slot(bucket, size):
    """Where to look for a bucket among `size` slots, a power of two."""
    mixed = np.int64(bucket) * np.int64(7046029254386353131)  # wraps around
    return (mixed ^ (mixed >> 32)) & (size - 1)


@jit
def repeats(seen, here):
    """Whether a direction at these places was noted before."""
    places, slots, width = seen.places, seen.slots, seen.width
    middle = int(np.floor(here[0] / width))
    for bucket in range(middle - 1, middle + 2):
        s = first_slot(bucket, slots.size)
        while slots[s] >= 0:
            row, same = slots[s], True
            for a in range(here.size):
                if abs(places[row, a] - here[a]) > width:
                    same = False
                    break
            if same:
                return True
            s = (s + 1) & (slots.size - 1)
    return False


@jit
def note(seen, row, here):
    """Note a direction, as the row-th."""
    places, slots = seen.places, seen.slots
    for a in range(here.size):
        places[row, a] = here[a]
    s = first_slot(int(np.floor(here[0] / seen.width)), slots.size)
    while slots[s] >= 0:
        s = (s + 1) & (slots.size - 1)
    slots[s] = row


@jit(steps=lambda places: places.size)
def note_all(seen, places):
    """Note many directions, as the first rows."""
    for row in range(places.shape[0]):
        note(seen, row, places[row])
