"""The best set under a budget: greedy, sampled, consensus, exact and local search."""

from dpplearn.decoding.greedy import greedy_map
from dpplearn.decoding.selection import Selection

__all__ = ["Selection", "greedy_map"]
