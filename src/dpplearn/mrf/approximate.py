"""log Z, marginals and samples of a pairwise field too large to enumerate: one record, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._checks import FloatArray, IntArray, Seed, check_between, check_choice, check_int, check_rng, frozen
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import annealed, mean_field, swept
from dpplearn.mrf.enumeration import Rows, rows_to_subsets, scores
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.transitivity import triangle_inequality
from dpplearn.mrf.variational import best_dpp, lower_bound
from dpplearn.subsets import Subsets

CHAINS, SWEEPS = 300, 300  # of the annealing beside a bound
MOST_CHAINS = 10**6
MISSED = 0.1  # of mean field's divergence: up to this share of it, q has the dependence between the items
CLOSE = 0.01  # nats: a divergence of no consequence, whatever its share


@dataclass(frozen=True)
class Diagnosis:
    """How DPP-like a field is.

    Attributes
    ----------
    dpp_like : bool or None
        Whether q misses at most a tenth of the dependence; None for "ais", which has no q.
    reason : str
        Why, in a sentence.
    divergence : Estimate
        KL(q || field) = log Z - bound, with log Z by annealing; not a number for "ais".
    missed : float
        The divergence as a share of mean field's: 0 where q has all the dependence between the items, 1 where none.
    violation : float
        Mean over triples by which the angles of the similarities sqrt(1 - exp(w_ij)) break the triangle inequality.
    attraction : float
        Share of the attracting pairs in the sum of all |w_ij|.
    """

    dpp_like: bool | None
    reason: str
    divergence: Estimate
    missed: float
    violation: float
    attraction: float

    def __repr__(self) -> str:
        values = (f"{n}={x:.4g}" if type(x) is float else f"{n}={x!r}" for n, x in vars(self).items())
        return f"Diagnosis({', '.join(values)})"


@dataclass(frozen=True, eq=False)
class Approximation:
    """What a method says of a pairwise field.

    Attributes
    ----------
    log_normalizer : Estimate
        log Z, with the `standard_error` of sampling.
    bound : "lower" or None
        Whether it is below log Z; None where it may be on either side.
    marginals, pair_probs : arrays of shapes (n,) and (n, n)
        P(i in Y); P(i, j in Y), and P(i in Y) on the diagonal.
    q : DPP or None
        The process of "dpp" and "mean-field" (whose K is diagonal).
    diagnosis : Diagnosis
        Whether the field is DPP-like, and so the answer of a DPP to be trusted.
    states : array of bool
        Sets of the field, approximately, a row each: those that annealing reached, and others from there.
    """

    mrf: PairwiseMRF
    family: str
    log_normalizer: Estimate
    bound: str | None
    marginals: FloatArray
    pair_probs: FloatArray
    q: DPP | None
    diagnosis: Diagnosis
    states: Rows

    def __repr__(self) -> str:
        sign = ">=" if self.bound == "lower" else "~"
        return f"<Approximation of {self.mrf.n} items by {self.family}: log Z {sign} {self.log_normalizer!r}>"

    def sample(self, size: int = 1, rng: Seed = None, *, sweeps: int = 100) -> Subsets:
        """Draw subsets from the field itself, approximately: each is a Gibbs chain of its own.

        Chains start from samples of q; those of "ais" from `states`.
        """
        size, generator = check_int(size, "size", low=1, high=MOST_CHAINS), check_rng(rng)
        sweeps = check_int(sweeps, "sweeps", low=1)
        if self.q is None:
            Y = self.states[generator.integers(0, len(self.states), size)]
        else:
            Y = self.q.sample(size, rng=generator).to_sparse().toarray().astype(np.bool_)
        return rows_to_subsets(swept(self.mrf.w, self.mrf.W, Y, sweeps, generator))

    def best_set(self, starts: int = 200, rng: Seed = 0) -> IntArray:
        """A set of high score: samples of the field, each improved by the best flip of an item until none helps."""
        w, W = self.mrf.w, self.mrf.W
        Y = self.sample(check_int(starts, "starts", low=1), rng, sweeps=20).to_sparse().toarray().astype(np.bool_)
        while True:
            gain = np.where(Y, -1.0, 1.0) * (w + Y @ W)
            rows = np.flatnonzero(gain.max(axis=1) > 1e-12)
            if rows.size == 0:
                return np.flatnonzero(Y[int(scores(w, W, Y).argmax())])
            Y[rows, gain[rows].argmax(axis=1)] ^= True


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
    if not isinstance(mrf, PairwiseMRF):
        raise TypeError(f"mrf must be a PairwiseMRF, found {type(mrf).__name__}. Use PairwiseMRF(w, W).")
    check_choice(family, "family", ("dpp", "mean-field", "ais"))
    generator = check_rng(rng)
    chains, sweeps = check_int(chains, "chains", low=12, high=MOST_CHAINS), check_int(sweeps, "sweeps", low=1)
    if check_between(error, "error", 0.0, np.inf) == 0.0:
        raise ValueError("error must be positive, found 0: the entropy of more than 14 items is known from samples.")
    w, W, q = mrf.w, mrf.W, None
    annealing, states = annealed(w, W, *((chains, sweeps) if family == "ais" else (CHAINS, SWEEPS)), generator)
    pairs, log_z = states.T @ states.astype(np.float64) / len(states), annealing
    independent, p = mean_field(w, W)
    if family == "dpp":
        best = best_dpp(w, W, pairs, generator)
        q, log_z = best.q, lower_bound(best, error, generator)
    elif family == "mean-field":
        q, log_z = DPP.from_marginal(np.diag(p)), Estimate(independent, 0.0)
    pairs = frozen(np.clip(pairs if q is None else q.pair_probs(), 0.0, 1.0))
    bound = None if q is None else "lower"
    diagnosis = diagnose(mrf, None if q is None else log_z, annealing, independent)
    return Approximation(mrf, family, log_z, bound, frozen(pairs.diagonal().copy()), pairs, q, diagnosis, states)


def diagnose(mrf: PairwiseMRF, bound: Estimate | None, annealing: Estimate, independent: float) -> Diagnosis:
    """From the bound of q, if any, from log Z by annealing, and from the bound of independent items."""
    S = np.sqrt(-np.expm1(np.minimum(mrf.W, 0.0)))
    np.fill_diagonal(S, 1.0)
    violation = triangle_inequality(S).mean_angle_violation
    total = float(np.abs(mrf.W).sum())
    attraction = float(np.maximum(mrf.W, 0.0).sum()) / total if total else 0.0
    weights = f"triangle violation {violation:.2g}, attraction {attraction:.2g}"
    if bound is None:
        return Diagnosis(None, f"no DPP was looked for; {weights}", Estimate(np.nan), np.nan, violation, attraction)
    error = float(np.hypot(annealing.standard_error, bound.standard_error))
    divergence = Estimate(max(annealing - bound, 0.0), error)
    missed = divergence / max(annealing - independent, 1e-12)
    like = missed <= MISSED or divergence <= CLOSE
    reason = f"q misses {divergence:.2g} nats, {min(missed, 1.0):.0%} of the dependence between the items"
    return Diagnosis(like, reason if like else f"{reason}; {weights}", divergence, missed, violation, attraction)
