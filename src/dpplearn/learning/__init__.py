"""Conditional DPPs by maximum likelihood (sections 4 and 5): item sets with a chosen subset in, weights out."""

from dpplearn.learning.conditional import ConditionalDPP
from dpplearn.learning.cv import ConditionalDPPCV
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import Terms, log_likelihood
from dpplearn.learning.shards import Shard, load_shard, save_shard

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
