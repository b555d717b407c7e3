"""Conditional DPPs by maximum likelihood (sections 4 and 5): from item sets with a chosen subset to weights."""

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


LAZY = {
    "ConditionalDPP": "conditional",
    "ConditionalDPPCV": "cv",
}  # these import scikit-learn; Dask workers do not need it


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return getattr(import_module(f"dpplearn.learning.{LAZY[name]}"), name)
    raise AttributeError(f"module 'dpplearn.learning' has no attribute {name!r}")
