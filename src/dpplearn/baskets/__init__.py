"""Kernels of DPPs learned from baskets over one catalogue: `KernelDPP`, and `completion`, which measures one."""

from dpplearn.baskets.baskets import Baskets
from dpplearn.baskets.completing import Completion, completion
from dpplearn.baskets.kernel import KernelDPP
from dpplearn.baskets.pairs import ItemPair, StrongestPairs

__all__ = ["Baskets", "Completion", "ItemPair", "KernelDPP", "StrongestPairs", "completion"]
