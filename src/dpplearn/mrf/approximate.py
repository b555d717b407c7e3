"""log Z, marginals and samples of a pairwise field too large to enumerate: one record, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._checks import MOST, FloatArray, IntArray, Seed, check_between, check_choice, check_int, check_rng
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import annealed, climb, draw, mean_field, swept
from dpplearn.mrf.coverage import Covered, cover, survey
from dpplearn.mrf.enumeration import rows_to_subsets, scores
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.transitivity import triangle_inequality
from dpplearn.mrf.variational import LEAST, best_dpp, lower_bound
from dpplearn.process import frozen
from dpplearn.subsets import Subsets

CHAINS, SWEEPS = 200, 300  # of the annealing that surveys a field
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
    positive : float
        The largest correlation between two items that is surely positive (by four standard errors of the samples).
    covered : bool
        Whether the samples see all that was found of the field. False: the error of log Z is unknown, and so are those
        of `divergence` and `missed`; `reason` says what the samples miss.
    divergence : float
        KL(q || field) = log Z - bound, with log Z from sets of known weight and from samples of q weighed by
        exp(score) / q; from the survey's annealing, where that is more sure, or finds what the samples miss.
    missed : float
        The divergence as a share of mean field's: 0 where q has all the dependence between the items, 1 where none.
        Like `divergence`, not a number for "ais", which has no q.
    effective : float
        Effective share of the samples: 1 where q is the field; less by the share of Z that they do not see.
    """

    dpp_like: bool
    reason: str
    violation: float
    attraction: float
    positive: float
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
    """

    mrf: PairwiseMRF
    family: str
    log_normalizer: Estimate
    bound: str | None
    marginals: FloatArray
    pair_probs: FloatArray
    q: DPP | None
    diagnosis: Diagnosis

    def __repr__(self) -> str:
        sign = ">=" if self.bound == "lower" else "~"
        return f"<Approximation of {self.mrf.n} items by {self.family}: log Z {sign} {self.log_normalizer!r}>"

    def sample(self, size: int = 1, rng: Seed = None, *, sweeps: int = 100) -> Subsets:
        """Draw subsets from the field itself, approximately: each is a Gibbs chain of its own, which starts from q."""
        size, generator = check_int(size, "size", low=1, high=MOST["chains"]), check_rng(rng)
        w, W, sweeps = self.mrf.w, self.mrf.W, check_int(sweeps, "sweeps", low=1)
        Y = annealed(w, W, size, sweeps, generator)[1] if self.q is None else draw(self.q, size, generator)[0]
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
        check = chains // 6
        seen = survey(w, W, check, sweeps, generator, share=0.0)
        covered = cover(w, W, *annealed(w, W, chains - check, sweeps, generator), seen)
        log_z, pairs = covered.log_z, covered.pairs
    else:
        seen = survey(w, W, CHAINS, SWEEPS, generator)
        if family == "dpp":
            found = best_dpp(w, W, seen.pairs, generator)
            q, (log_z, log_weights, Y) = found.q, lower_bound(found, error, generator)
        else:
            q, log_z = DPP.from_marginal(np.diag(p)), Estimate(independent, 0.0)
            Y, log_q = draw(q, LEAST, generator)
            log_weights = scores(w, W, Y) - log_q
        covered, pairs = cover(w, W, log_weights, Y, seen, q), q.pair_probs()
    pairs = frozen(np.clip(pairs, 0.0, 1.0))
    samples = chains if q is None else len(Y)
    diagnosis = diagnose(mrf, None if q is None else float(log_z), covered, samples, independent)
    bound = None if q is None else "lower"
    return Approximation(mrf, family, log_z, bound, frozen(pairs.diagonal().copy()), pairs, q, diagnosis)


def diagnose(mrf: PairwiseMRF, lower: float | None, covered: Covered, samples: int, independent: float) -> Diagnosis:
    """From the weights and so many weighed samples; `lower` is the bound of the q that they are from, if any."""
    S = np.sqrt(-np.expm1(np.minimum(mrf.W, 0.0)))
    np.fill_diagonal(S, 1.0)
    violation = triangle_inequality(S).mean_angle_violation
    total = float(np.abs(mrf.W).sum())
    attraction = float(np.maximum(mrf.W, 0.0).sum()) / total if total else 0.0
    pairs, effective = covered.pairs, covered.effective
    d = pairs.diagonal()
    spread = np.sqrt(np.maximum(d * (1 - d), 1e-12))
    correlation = (pairs - np.outer(d, d)) / np.outer(spread, spread)
    np.fill_diagonal(correlation, -1.0)
    positive = max(float(correlation.max(initial=0.0)) - 4.0 / np.sqrt(effective * samples), 0.0)
    divergence = missed = np.nan
    if lower is not None:
        divergence = max(covered.best - lower, 0.0)
        missed = divergence / max(covered.best - independent, 1e-12)
    if effective < EFFECTIVE:
        like, reason = False, f"only {effective:.1%} of the samples count: they miss where the field has its mass"
    elif lower is None:
        like = violation < 0.01 and attraction == 0.0
        reason = f"only the weights tell; {effective:.0%} of the samples count"
    else:
        like = not covered.unseen and (missed <= MISSED or divergence <= CLOSE)
        least = "at least " if covered.unseen else ""
        reason = f"q misses {least}{divergence:.2g} nats, {min(missed, 1.0):.0%} of the dependence between the items"
    if covered.unseen:
        reason += f"; the error of log Z is unknown, because the samples do not see all of the field: {covered.unseen}"
    if not like or lower is None:
        reason += (
            f"; triangle violation {violation:.2g}, attraction {attraction:.2g}, correlation up to +{positive:.2g}"
        )
    return Diagnosis(like, reason, violation, attraction, positive, not covered.unseen, divergence, missed, effective)
