"""Section 3 of the paper: DPPs against Markov random fields with repulsion.

`PairwiseMRF` is the model (11); `fit_dpp_to` and `fit_mrf_to` find the closest DPP and MRF in KL divergence;
`pair_to_dpp` and its kin are the equivalence for N = 2 (13); `ternary_factors` and `factor_surface` are Figures 3 and
4; `triangle_inequality` is (12), and `transitivity` tells how far a distribution is from it. `approximate` is for more
than 20 items: log Z, marginals and samples by the best DPP, and by the methods it is compared with.
"""

from dpplearn.mrf.approximate import Approximation, approximate
from dpplearn.mrf.diagnosis import Diagnosis
from dpplearn.mrf.enumeration import SetDistribution, kl_divergence
from dpplearn.mrf.fit import Fit, fit_dpp_to, fit_mrf_to
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.ternary import FactorSurface, TernaryFactors, factor_surface, ternary_factors
from dpplearn.mrf.transitivity import TriangleCheck, implied_similarity, transitivity, triangle_inequality
from dpplearn.mrf.two_items import (
    PairProbs,
    PairWeights,
    QualitySimilarity,
    dpp_to_mrf,
    dpp_to_pair,
    mrf_to_dpp,
    mrf_to_pair,
    pair_to_dpp,
    pair_to_mrf,
)

__all__ = [
    "Approximation",
    "Diagnosis",
    "FactorSurface",
    "Fit",
    "PairProbs",
    "PairWeights",
    "PairwiseMRF",
    "QualitySimilarity",
    "SetDistribution",
    "TernaryFactors",
    "TriangleCheck",
    "approximate",
    "dpp_to_mrf",
    "dpp_to_pair",
    "factor_surface",
    "fit_dpp_to",
    "fit_mrf_to",
    "implied_similarity",
    "kl_divergence",
    "mrf_to_dpp",
    "mrf_to_pair",
    "pair_to_dpp",
    "pair_to_mrf",
    "ternary_factors",
    "transitivity",
    "triangle_inequality",
]
