"""Learn, from examples of good subsets, to choose the best set under a budget.

The model is the conditional determinantal point process of Kulesza and Taskar, "Learning Determinantal Point Processes"
(2011). Start with `DPP`, `LowRankDPP` and `KDPP`; to learn, with `ItemSet` and `ConditionalDPP`; for MMR, `diversify`.
"""

from typing import TYPE_CHECKING, Any

from dpplearn.dpp import DPP
from dpplearn.implicit import ImplicitDPP
from dpplearn.kdpp import KDPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.nonsymmetric import NonsymmetricDPP
from dpplearn.subsets import Subsets

if TYPE_CHECKING:
    from dpplearn.baskets.kernel import KernelDPP
    from dpplearn.decoding.diversify import diversify
    from dpplearn.decoding.diversity import diversity_of
    from dpplearn.learning import ConditionalDPP, ConditionalDPPCV, ItemSet

__version__ = "0.1.0"

__all__ = [
    "DPP",
    "KDPP",
    "ConditionalDPP",
    "ConditionalDPPCV",
    "ImplicitDPP",
    "ItemSet",
    "KernelDPP",
    "LowRankDPP",
    "NonsymmetricDPP",
    "Subsets",
    "diversify",
    "diversity_of",
]

# These names are imported on first use, because learning imports scikit-learn.
LAZY = {
    **dict.fromkeys(("ConditionalDPP", "ConditionalDPPCV", "ItemSet"), "learning"),
    "KernelDPP": "baskets",
    "diversify": "decoding.diversify",
    "diversity_of": "decoding.diversity",
}

# These modules too, so that `dpplearn.summarize.summarize(...)` works.
ROOMS = ("baskets", "decoding", "kernels", "learning", "mrf", "rouge", "summarize")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in LAZY:
        return getattr(import_module(f"dpplearn.{LAZY[name]}"), name)
    if name in ROOMS:
        return import_module(f"dpplearn.{name}")
    raise AttributeError(f"module 'dpplearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__) | set(ROOMS))
