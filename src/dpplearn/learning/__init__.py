"""Conditional DPPs by maximum likelihood (sections 4 and 5): item sets with a chosen subset in, weights out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpplearn.learning.files import load_shard, save_shard
from dpplearn.learning.itemset import ItemSet, Shard
from dpplearn.learning.likelihood import Terms, log_likelihood

if TYPE_CHECKING:
    from dpplearn.learning.conditional import ConditionalDPP
    from dpplearn.learning.cv import ConditionalDPPCV

__all__ = [
    "ConditionalDPP",
    "ConditionalDPPCV",
    "ItemSet",
    "Shard",
    "Terms",
    "load_shard",
    "log_likelihood",
    "save_shard",
]


# Imported when first asked for: they bring scikit-learn, which a cluster's workers do not need.
LAZY = {
    "ConditionalDPP": "conditional",
    "ConditionalDPPCV": "cv",
}


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return getattr(import_module(f"dpplearn.learning.{LAZY[name]}"), name)
    raise AttributeError(f"module 'dpplearn.learning' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
