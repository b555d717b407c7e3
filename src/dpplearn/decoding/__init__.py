"""The best set under a budget: greedy, sampled, consensus, exact and local search."""

from dpplearn.decoding.greedy import greedy_map
from dpplearn.decoding.sampled import SampledSelection, sampled_map
from dpplearn.decoding.selection import Selection

__all__ = ["SampledSelection", "Selection", "greedy_map", "sampled_map"]
