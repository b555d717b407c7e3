"""Learn, from examples of good subsets, to choose the best set under a budget.

The model is the conditional determinantal point process of Kulesza and Taskar, "Learning
Determinantal Point Processes" (2011). Start with `DPP`, `LowRankDPP` and `KDPP`.
"""

from dpplearn._linalg import nearest_psd
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.implicit import ImplicitDPP
from dpplearn.kdpp import KDPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.subsets import Subsets

__version__ = "0.1.0"

__all__ = ["DPP", "KDPP", "Estimate", "ImplicitDPP", "LowRankDPP", "Subsets", "nearest_psd"]
