from dpplearn.decoding.diversify import diversify
from dpplearn.decoding.greedy import greedy_map
from dpplearn.decoding.selection import DiverseSelection, Selection

__all__ = [
    "DiverseSelection",
    "Selection",
    "diversify",
    "greedy_map",
]
