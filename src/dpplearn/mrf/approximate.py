"""log Z, marginals and samples of a pairwise field too large to enumerate: one record, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._checks import MOST, FloatArray, IntArray, Seed, check_between, check_choice, check_int, check_rng
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import annealed, climb, draw, mean_field, scores, swept, weighted_moments
from dpplearn.mrf.enumeration import Rows, rows_to_subsets
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.transitivity import triangle_inequality
from dpplearn.mrf.variational import LEAST, best_dpp, lower_bound
from dpplearn.process import frozen
from dpplearn.subsets import Subsets

CHAINS, SWEEPS = 200, 300  # of the annealing beside a DPP
SURE = 4.0  # standard errors
MISSED = 0.1  # of mean field's divergence: up to this share of it, q has the dependence between the items
CLOSE = 0.01  # nats: a divergence of no consequence, whatever its share
EFFECTIVE = 0.02  # a smaller effective share of samples says that q misses where the field has its mass


@dataclass(frozen=True)
class Diagnosis:
    """How DPP-like a field is.

    Attributes
    ----------
    dpp_like : bool
        Whether q misses at most a tenth of the dependence; without q, whether nothing in the weights speaks against it.
    reason : str
        Why, in a sentence.
    violation : float
        Mean over triples by which the angles of the similarities sqrt(1 - exp(w_ij)) break the triangle inequality.
    attraction : float
        Share of the attracting pairs in the sum of all |w_ij|.
    covered : bool
        Whether the samples see all that annealing finds of the field, to four standard errors. False: the error of
        log Z is unknown, and so are those of `divergence` and `missed`.
    divergence : float
        KL(q || field) = log Z - bound, with log Z from samples of q weighed by exp(score) / q, or from annealing, where
        that is more sure, or finds what the samples miss.
    missed : float
        The divergence as a share of mean field's: 0 where q has all the dependence between the items, 1 where none.
        Like `divergence`, not a number for "ais", which has no q.
    effective : float
        Effective share of the samples: 1 where q is the field.
    """

    dpp_like: bool
    reason: str
    violation: float
    attraction: float
    covered: bool
    divergence: float
    missed: float
    effective: float

    def __repr__(self) -> str:
        values = (f"{n}={x:.4g}" if isinstance(x, float) else f"{n}={x!r}" for n, x in vars(self).items())
        return f"Diagnosis({', '.join(values)})"


@dataclass(frozen=True, eq=False)
class Approximation:
    """What a method says of a pairwise field.

    Attributes
    ----------
    log_normalizer : Estimate
        log Z, with the `standard_error` of sampling: infinite where it is unknown, because the samples of "ais" do not
        see all of the field.
    bound : "lower" or None
        Whether it is below log Z; None where it may be on either side.
    marginals, pair_probs : arrays of shapes (n,) and (n, n)
        P(i in Y); P(i, j in Y), and P(i in Y) on the diagonal.
    q : DPP or None
        The process of "dpp" and "mean-field" (whose K is diagonal).
    diagnosis : Diagnosis
        Whether the field is DPP-like, and so the answer of a DPP to be trusted.
    chains : bool array of shape (m, n)
        Sets from the field, approximately: what annealing ended at, drawn by weight.
    """

    mrf: PairwiseMRF
    family: str
    log_normalizer: Estimate
    bound: str | None
    marginals: FloatArray
    pair_probs: FloatArray
    q: DPP | None
    diagnosis: Diagnosis
    chains: Rows

    def __repr__(self) -> str:
        sign = ">=" if self.bound == "lower" else "~"
        return f"<Approximation of {self.mrf.n} items by {self.family}: log Z {sign} {self.log_normalizer!r}>"

    def sample(self, size: int = 1, rng: Seed = None, *, sweeps: int = 100) -> Subsets:
        """Draw subsets from the field itself, approximately: each by a Gibbs chain that goes on from annealing."""
        size, generator = check_int(size, "size", low=1, high=MOST["chains"]), check_rng(rng)
        w, W, sweeps = self.mrf.w, self.mrf.W, check_int(sweeps, "sweeps", low=1)
        Y = generator.choice(self.chains, size)
        return rows_to_subsets(swept(w, W, Y, sweeps, generator))

    def best_set(self, starts: int = 200, rng: Seed = 0) -> IntArray:
        """A set of high score: samples of the field, each improved until no flip of an item helps."""
        Y = self.sample(check_int(starts, "starts", low=1), rng, sweeps=20).to_sparse().toarray().astype(np.bool_)
        tops = climb(self.mrf.w, self.mrf.W, Y)
        return np.flatnonzero(tops[int(scores(self.mrf.w, self.mrf.W, tops).argmax())])


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
        Of "ais". A sixth of the chains start elsewhere, and tell whether the others see all of the field.
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
    >>> approximate(mrf, "mean-field").marginals.round(2)
    array([0.45, 0.06, 0.45])
    """
    if not isinstance(mrf, PairwiseMRF):
        raise TypeError(f"mrf must be a PairwiseMRF, found {type(mrf).__name__}. Use PairwiseMRF(w, W).")
    check_choice(family, "family", ("dpp", "mean-field", "ais"))
    generator = check_rng(rng)
    chains, sweeps = check_int(chains, "chains", low=12), check_int(sweeps, "sweeps", low=1)
    if check_between(error, "error", 0.0, np.inf) == 0.0:
        raise ValueError("error must be positive, found 0: the entropy of more than 14 items is known from samples.")
    w, W, q = mrf.w, mrf.W, None
    independent, p = mean_field(w, W)
    if family == "ais":
        beside = annealed(w, W, chains // 6, sweeps, generator, 0.0)
    else:
        beside = annealed(w, W, CHAINS, SWEEPS, generator)
    other, pairs, _ = weighted_moments(*beside)
    if family == "ais":
        log_weights, Y = annealed(w, W, chains - chains // 6, sweeps, generator)
    elif family == "dpp":
        best = best_dpp(w, W, pairs, generator)
        q, (log_z, log_weights, Y) = best.q, lower_bound(best, error, generator)
    else:
        q, log_z = DPP.from_marginal(np.diag(p)), Estimate(independent, 0.0)
        Y, log_q = draw(q, LEAST, generator)
        log_weights = scores(w, W, Y) - log_q
    mine, pairs, effective = weighted_moments(log_weights, Y)
    gap = other - mine
    covered = bool(np.expm1(gap) <= SURE * np.hypot(mine.standard_error, other.standard_error * np.exp(gap)))
    known = min(mine, other, key=lambda one: one.standard_error) if covered else max(mine, other)
    log_weights, Y = (log_weights, Y) if family == "ais" else beside
    ends = generator.choice(Y, len(Y), p=np.exp(log_weights - np.logaddexp.reduce(log_weights)))
    if q is None:
        log_z = mine if covered else Estimate(float(mine), np.inf)
    pairs = frozen(np.clip(pairs if q is None else q.pair_probs(), 0.0, 1.0))
    diagnosis = diagnose(mrf, None if q is None else float(log_z), float(known), independent, covered, effective)
    bound = None if q is None else "lower"
    return Approximation(mrf, family, log_z, bound, frozen(pairs.diagonal().copy()), pairs, q, diagnosis, ends)


def diagnose(
    mrf: PairwiseMRF, lower: float | None, log_z: float, independent: float, covered: bool, effective: float
) -> Diagnosis:
    """From the weights, and from log Z by samples; `lower` is the bound of q, if there is one."""
    S = np.sqrt(-np.expm1(np.minimum(mrf.W, 0.0)))
    np.fill_diagonal(S, 1.0)
    violation = triangle_inequality(S).mean_angle_violation
    total = float(np.abs(mrf.W).sum())
    attraction = float(np.maximum(mrf.W, 0.0).sum()) / total if total else 0.0
    divergence = missed = np.nan
    if lower is not None:
        divergence = max(log_z - lower, 0.0)
        missed = divergence / max(log_z - independent, 1e-12)
    if effective < EFFECTIVE:
        like, reason = False, f"only {effective:.1%} of the samples count: they miss where the field has its mass"
    elif lower is None:
        like = violation < 0.01 and attraction == 0.0
        reason = f"only the weights tell; {effective:.0%} of the samples count"
    else:
        like = covered and (missed <= MISSED or divergence <= CLOSE)
        least = "" if covered else "at least "
        reason = f"q misses {least}{divergence:.2g} nats, {min(missed, 1.0):.0%} of the dependence between the items"
    if not covered:
        reason += "; the error of log Z is unknown, because annealing finds a part of the field that the samples miss"
    if not like or lower is None:
        reason += f"; triangle violation {violation:.2g}, attraction {attraction:.2g}"
    return Diagnosis(like, reason, violation, attraction, covered, divergence, missed, effective)
