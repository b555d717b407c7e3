"""Kernels of DPPs learned from baskets over one catalogue: `KernelDPP`, and `completion`, which measures one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpplearn.baskets.baskets import Baskets
    from dpplearn.baskets.completing import Completion, completion
    from dpplearn.baskets.kernel import KernelDPP
    from dpplearn.baskets.pairs import ItemPair, StrongestPairs

# Imported when first asked for: scikit-learn, which KernelDPP brings, takes a while to import.
LAZY = {
    "Baskets": "baskets",
    "Completion": "completing",
    "ItemPair": "pairs",
    "KernelDPP": "kernel",
    "StrongestPairs": "pairs",
    "completion": "completing",
}

__all__ = ["Baskets", "Completion", "ItemPair", "KernelDPP", "StrongestPairs", "completion"]


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return getattr(import_module(f"dpplearn.baskets.{LAZY[name]}"), name)
    raise AttributeError(f"module 'dpplearn.baskets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
