"""Estimates log Z and marginals of a pairwise MRF that is too large to enumerate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._checks import FloatArray, Seed, check_between, check_choice, check_int, check_rng, frozen
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import annealed, mean_field
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.variational import best_dpp, lower_bound

CHAINS, SWEEPS = 300, 300  # of the annealing that is compared with a bound
MOST_CHAINS = 10**6
MISSED = 0.1  # q counts as DPP-like up to this share of mean field's divergence
NEGLIGIBLE = 0.01  # nats: a smaller divergence does not matter, whatever its share


@dataclass(frozen=True, eq=False)
class Approximation:
    """An approximation of a pairwise MRF.

    Attributes
    ----------
    log_normalizer : Estimate
        log Z, with the `standard_error` of sampling: a lower bound for "dpp" and "mean-field", but not for "ais".
    marginals, pair_probs : arrays of shapes (n,) and (n, n)
        P(i in Y) and P(i, j in Y), with P(i in Y) on the diagonal.
    q : DPP or None
        The DPP of "dpp" and "mean-field" (whose K is diagonal).
    divergence : Estimate
        KL(q || MRF) = log Z - bound, with log Z by annealing; nan for "ais".
    missed : float
        The divergence as a share of mean field's: 0 if q has all the dependence between the items, 1 if it has none.
    """

    mrf: PairwiseMRF
    family: str
    log_normalizer: Estimate
    marginals: FloatArray
    pair_probs: FloatArray
    q: DPP | None
    divergence: Estimate
    missed: float

    @property
    def dpp_like(self) -> bool | None:
        """Whether q misses at most a tenth of the dependence, or the divergence is negligible; None for "ais"."""
        return None if self.q is None else self.missed <= MISSED or self.divergence <= NEGLIGIBLE

    def __repr__(self) -> str:
        sign = "~" if self.q is None else ">="
        return f"<Approximation of {self.mrf.n} items by {self.family}: log Z {sign} {self.log_normalizer!r}>"


def approximate(
    mrf: PairwiseMRF, family: str = "dpp", *, error: float = 0.01, chains: int = 1000, sweeps: int = 1000, rng: Seed = 0
) -> Approximation:
    """Estimate log Z, marginals and pair marginals of a pairwise MRF with up to some 500 items.

    "dpp" finds the DPP q with the greatest evidence lower bound E_q[score] + H(q) <= log Z. The expected score is exact
    from K. So is the entropy, up to 14 items; with more items it is maximized through exact entropies of small blocks,
    and the bound is then estimated from new exact samples of q. "mean-field" does the same with independent items.
    "ais" is annealed importance sampling, which estimates log Z with an error in either direction.

    Parameters
    ----------
    error : float
        The standard error that the bound of "dpp" is to have; at most 200,000 samples are drawn for it.
    chains, sweeps : int
        Number of chains of "ais", and of their sweeps.
    rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None

    Examples
    --------
    >>> W = [[0.0, -3.0, 0.0], [-3.0, 0.0, -3.0], [0.0, -3.0, 0.0]]  # item 1 repels 0 and 2, which ignore each other
    >>> mrf = PairwiseMRF([0.0, 0.0, 0.0], W)
    >>> by_dpp = approximate(mrf)
    >>> approximate(mrf, "mean-field").log_normalizer < by_dpp.log_normalizer < mrf.log_normalizer
    True
    >>> by_dpp.marginals.round(1), mrf.marginals.round(1)
    (array([0.4, 0.2, 0.4]), array([0.4, 0.2, 0.4]))
    """
    check_choice(family, "family", ("dpp", "mean-field", "ais"))
    generator = check_rng(rng)
    chains, sweeps = check_int(chains, "chains", low=12, high=MOST_CHAINS), check_int(sweeps, "sweeps", low=1)
    error = check_between(error, "error", 1e-6, np.inf)
    w, W, q = mrf.w, mrf.W, None
    annealing, states = annealed(w, W, *((chains, sweeps) if family == "ais" else (CHAINS, SWEEPS)), generator)
    pairs, log_z = states.T @ states.astype(np.float64) / len(states), annealing
    independent, p = mean_field(w, W)
    if family == "dpp":
        best = best_dpp(w, W, pairs, generator)
        q, log_z = best.q, lower_bound(best, error, generator)
    elif family == "mean-field":
        q, log_z = DPP.from_marginal(np.diag(p)), Estimate(independent, 0.0)
    divergence, missed = Estimate(np.nan), np.nan
    if q is not None:
        pairs = q.pair_probs()
        deviation = float(np.hypot(annealing.standard_error, log_z.standard_error))
        divergence = Estimate(max(annealing - log_z, 0.0), deviation)
        missed = divergence / max(annealing - independent, 1e-12)
    pairs = frozen(np.clip(pairs, 0.0, 1.0))
    return Approximation(mrf, family, log_z, frozen(pairs.diagonal().copy()), pairs, q, divergence, missed)
