"""Decoders, which choose the best set within limits: greedy, sampled, consensus, exact and local search."""

from dpplearn.decoding.consensus import ConsensusSelection, consensus
from dpplearn.decoding.diversify import diversify
from dpplearn.decoding.exact import ExactSelection, exact_map
from dpplearn.decoding.greedy import greedy_map
from dpplearn.decoding.local import local_search
from dpplearn.decoding.sampled import SampledSelection, sampled_map
from dpplearn.decoding.selection import DiverseSelection, Selection

__all__ = [
    "ConsensusSelection",
    "DiverseSelection",
    "ExactSelection",
    "SampledSelection",
    "Selection",
    "consensus",
    "diversify",
    "exact_map",
    "greedy_map",
    "local_search",
    "sampled_map",
]
