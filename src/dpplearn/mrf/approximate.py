"""log Z and marginals of a pairwise field too large to enumerate: one record, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._checks import FloatArray, Seed, check_between, check_choice, check_int, check_rng, frozen
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import annealed, mean_field
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.variational import best_dpp, lower_bound

CHAINS, SWEEPS = 300, 300  # of the annealing beside a bound
MOST_CHAINS = 10**6
MISSED = 0.1  # of mean field's divergence: up to this share of it, q has the dependence between the items
NEGLIGIBLE = 0.01  # nats: a divergence of no consequence, whatever its share


@dataclass(frozen=True, eq=False)
class Approximation:
    """What a method says of a pairwise field.

    Attributes
    ----------
    log_normalizer : Estimate
        log Z, with the `standard_error` of sampling: of "dpp" and "mean-field" a lower bound, of "ais" on either side.
    marginals, pair_probs : arrays of shapes (n,) and (n, n)
        P(i in Y); P(i, j in Y), and P(i in Y) on the diagonal.
    q : DPP or None
        The process of "dpp" and "mean-field" (whose K is diagonal).
    divergence : Estimate
        KL(q || field) = log Z - bound, with log Z by annealing; not a number for "ais".
    missed : float
        The divergence as a share of mean field's: 0 where q has all the dependence between the items, 1 where none.
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
        """Whether q misses at most a tenth of the dependence, or next to nothing; None for "ais", which has no q."""
        return None if self.q is None else self.missed <= MISSED or self.divergence <= NEGLIGIBLE

    def __repr__(self) -> str:
        sign = "~" if self.q is None else ">="
        return f"<Approximation of {self.mrf.n} items by {self.family}: log Z {sign} {self.log_normalizer!r}>"


def approximate(
    mrf: PairwiseMRF,
    family: str = "dpp",
    *,
    error: float = 0.01,
    chains: int = 1000,
    sweeps: int = 1000,
    rng: Seed = 0,
) -> Approximation:
    """log Z, marginals and pair marginals of a pairwise field of up to some 500 items.

    "dpp" finds the DPP q with the greatest evidence lower bound E_q[score] + H(q) <= log Z. The score's expectation is
    exact from K. Up to 14 items the entropy is exact as well; beyond, it is maximized through exact entropies of small
    blocks, and the bound is then estimated from fresh exact samples of q. "mean-field" does the same with independent
    items. "ais" is annealed importance sampling: log Z with an error, on neither side.

    Parameters
    ----------
    error : float
        Standard error wanted of the bound of "dpp"; at most 200,000 samples are drawn for it.
    chains, sweeps : int
        Of "ais".
    rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None

    Examples
    --------
    >>> W = [[0.0, -3.0, 0.0], [-3.0, 0.0, -3.0], [0.0, -3.0, 0.0]]  # item 1 repels 0 and 2, which ignore each other
    >>> mrf = PairwiseMRF([0.0, 0.0, 0.0], W)
    >>> found = approximate(mrf)
    >>> approximate(mrf, "mean-field").log_normalizer < found.log_normalizer < mrf.log_normalizer
    True
    >>> found.marginals.round(1), mrf.marginals.round(1)
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
