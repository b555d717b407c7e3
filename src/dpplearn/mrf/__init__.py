"""Section 3 of the paper: DPPs against Markov random fields with repulsion.

`PairwiseMRF` is the model (11); `fit_dpp_to` finds the closest DPP in KL divergence; `pair_to_dpp` and `pair_to_mrf`
are the equivalence for N = 2 (13); `ternary_factors` and `factor_surface` are Figures 3 and 4; `triangle_inequality` is
(12). `approximate` is for more than 20 items: log Z and marginals by the best DPP, by mean field and by annealing.
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
