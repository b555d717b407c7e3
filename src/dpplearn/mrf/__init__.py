"""Section 3 of the paper: compares DPPs with Markov random fields (MRFs) that have repulsion.

`PairwiseMRF` is the model (11), and `fit_dpp_to` finds the DPP closest to it in KL divergence. `pair_to_dpp` and
`pair_to_mrf` are the equivalence for N = 2 (13), `ternary_factors` and `factor_surface` Figures 3 and 4, and
`triangle_inequality` is (12). For more than 20 items, `approximate` estimates log Z and marginals.
"""

from dpplearn.mrf.approximate import Approximation, approximate
from dpplearn.mrf.enumeration import kl_divergence
from dpplearn.mrf.few_items import factor_surface, pair_to_dpp, pair_to_mrf, ternary_factors
from dpplearn.mrf.fit import fit_dpp_to
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.transitivity import triangle_inequality

__all__ = [
    "Approximation",
    "PairwiseMRF",
    "approximate",
    "factor_surface",
    "fit_dpp_to",
    "kl_divergence",
    "pair_to_dpp",
    "pair_to_mrf",
    "ternary_factors",
    "triangle_inequality",
]
