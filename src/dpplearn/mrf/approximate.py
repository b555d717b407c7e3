"""log Z, marginals and samples of a pairwise field too large to enumerate: one record, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._checks import MOST, FloatArray, IntArray, Seed, check_between, check_choice, check_int, check_rng
from dpplearn.dpp import DPP
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import annealed, conditional_moments, gibbs, propose
from dpplearn.mrf.coverage import cover
from dpplearn.mrf.diagnosis import Diagnosis, diagnose
from dpplearn.mrf.enumeration import rows_to_subsets
from dpplearn.mrf.messages import belief_propagation, mean_field, tree_reweighted
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.parameters import Factors, Sine
from dpplearn.mrf.variational import LEAST, SURE, Process, Variational, best_process, lower_bound
from dpplearn.process import PointProcess, frozen
from dpplearn.subsets import Subsets

FAMILIES = ("dpp", "nonsymmetric", "mean-field", "bp", "trw", "ais", "gibbs", "importance")
BOUNDS = {"dpp": "lower", "nonsymmetric": "lower", "mean-field": "lower", "trw": "upper"}
BELIEFS = {"mean-field": mean_field, "bp": belief_propagation, "trw": tree_reweighted}


@dataclass(frozen=True, eq=False)
class Approximation:
    """What a method says of a pairwise field.

    Attributes
    ----------
    log_normalizer : Estimate
        log Z, with the `standard_error` of sampling: infinite where it is unknown, because the samples of "ais" or
        "importance" do not see all of the field, and for "bp". Not a number for "gibbs", which does not estimate it.
    bound : "lower", "upper" or None
        Which side of log Z it is on; None where it may be on either.
    marginals, pair_probs : arrays of shapes (n,) and (n, n)
        P(i in Y); P(i, j in Y), and P(i in Y) on the diagonal.
    q : DPP, LowRankDPP, NonsymmetricDPP or None
        The process of "dpp", "nonsymmetric" and "mean-field" (whose K is diagonal), or the one that proposed.
    diagnosis : Diagnosis
        Whether the field is DPP-like, and so the answer of a DPP to be trusted.
    """

    mrf: PairwiseMRF
    family: str
    log_normalizer: Estimate
    bound: str | None
    marginals: FloatArray
    pair_probs: FloatArray
    q: Process | None
    diagnosis: Diagnosis

    def __repr__(self) -> str:
        sign = {"lower": ">=", "upper": "<=", None: "~"}[self.bound]
        said = "not estimated" if np.isnan(self.log_normalizer) else f"{sign} {self.log_normalizer!r}"
        return f"<Approximation of {self.mrf.n} items by {self.family}: log Z {said}>"

    def sample(self, size: int = 1, rng: Seed = None, *, sweeps: int = 100) -> Subsets:
        """Draw subsets from the field itself, approximately: each is a Markov chain of its own.

        Chains start from q, where there is one, and are offered new samples of it; see `approximate` on "gibbs".
        """
        size, generator = check_int(size, "size", low=1, high=MOST["chains"]), check_rng(rng)
        Y = gibbs(self.mrf.w, self.mrf.W, size, check_int(sweeps, "sweeps", low=1), generator, self.q)
        return rows_to_subsets(Y[-size:])

    def best_set(self, starts: int = 200, rng: Seed = 0) -> IntArray:
        """A set of high score: samples of the field, each improved until no flip and no swap of two items helps."""
        from dpplearn.mrf._gibbs_loops import climb

        Y = self.sample(check_int(starts, "starts", low=1), rng, sweeps=20).to_sparse().toarray().astype(np.bool_)
        return np.flatnonzero(Y[int(climb(self.mrf.w, self.mrf.W, Y).argmax())])


def approximate(
    mrf: PairwiseMRF,
    family: str = "dpp",
    *,
    rank: int | None = None,
    q: Process | None = None,
    error: float = 0.01,
    neighbours: int = 8,
    corrections: int = 10,
    chains: int = 1000,
    sweeps: int = 1000,
    rng: Seed = 0,
) -> Approximation:
    """log Z, marginals and pair marginals of a pairwise field of up to some 500 items.

    "dpp" finds the determinantal q with the greatest evidence lower bound E_q[score] + H(q) <= log Z. The score's
    expectation is exact from K. Up to 14 items the entropy is exact as well; beyond, it is maximized through exact
    entropies of small blocks, corrected by samples, and the bound is then estimated from fresh exact samples of q.
    "nonsymmetric" does the same with a `NonsymmetricDPP`, for fields in which some pairs attract.

    The others are "mean-field" (lower bound), "bp" (loopy belief propagation: no bound), "trw" (tree-reweighted: upper
    bound, with a warning where it may be loose), "ais" (annealed importance sampling: log Z with an error), "gibbs"
    (marginals only) and "importance" (samples of q weighed by exp(score) / q: log Z with an error).

    Parameters
    ----------
    rank : int, optional
        Of L, for "dpp" and "nonsymmetric": a `LowRankDPP`. Subsets with more items have no share in the bound.
    q : DPP, LowRankDPP or NonsymmetricDPP, optional
        For "importance", what proposes (default: what "dpp" finds). For "gibbs", where chains start and what they are
        offered (default: coins, and no offers).
    error : float
        Standard error wanted of a lower bound; at most 200,000 samples are drawn for it.
    neighbours : int
        Items in the condition of a block's entropy; each one more doubles the time.
    corrections : int
        How often the gradient is corrected by samples, where the blocks leave something out.
    chains, sweeps : int
        Of "ais" and "gibbs"; `importance` draws `chains` samples times 10.
    rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None

    Examples
    --------
    >>> W = [[0.0, -3.0, 0.0], [-3.0, 0.0, -3.0], [0.0, -3.0, 0.0]]  # item 1 repels 0 and 2, which ignore each other
    >>> mrf = PairwiseMRF([0.0, 0.0, 0.0], W)
    >>> found = approximate(mrf)
    >>> found.log_normalizer < mrf.log_normalizer < approximate(mrf, "trw").log_normalizer + 1e-9
    True
    >>> found.marginals.round(1), mrf.marginals.round(1)
    (array([0.4, 0.2, 0.4]), array([0.4, 0.2, 0.4]))
    >>> approximate(mrf, "mean-field").marginals.round(2)
    array([0.45, 0.06, 0.45])
    >>> approximate(mrf, "gibbs")
    <Approximation of 3 items by gibbs: log Z not estimated>
    """
    if not isinstance(mrf, PairwiseMRF):
        raise TypeError(f"mrf must be a PairwiseMRF, found {type(mrf).__name__}. Use PairwiseMRF(w, W).")
    check_choice(family, "family", FAMILIES)
    generator = check_rng(rng)
    chains, sweeps = check_int(chains, "chains", low=2), check_int(sweeps, "sweeps", low=1)
    neighbours = check_int(neighbours, "neighbours", low=1, high=16)
    corrections = check_int(corrections, "corrections")
    if check_between(error, "error", 0.0, np.inf) == 0.0:
        raise ValueError("error must be positive, found 0: the entropy of more than 14 items is known from samples.")
    if q is not None and (family not in ("importance", "gibbs") or not isinstance(q, PointProcess) or q.n != mrf.n):
        raise ValueError(f'q must be a DPP on the {mrf.n} items, and goes with "importance" and "gibbs"; found {q!r}.')
    if rank is not None:
        rank = check_int(rank, "rank", low=1, high=mrf.n)
        if family not in ("dpp", "nonsymmetric"):
            raise ValueError(f'rank goes with "dpp" and "nonsymmetric", found family={family!r}.')
    w, W, bound, sampled = mrf.w, mrf.W, BOUNDS.get(family), None

    def search(kernels: Sine | Factors) -> Variational:
        return best_process(w, W, kernels, neighbours=neighbours, corrections=corrections, rng=generator)

    if family in ("dpp", "nonsymmetric"):
        skew = family == "nonsymmetric"
        found = search(Factors(mrf.n, rank or mrf.n, skew) if skew or rank is not None else Sine(mrf.n, SURE))
        q, (log_z, weighed) = found.q, lower_bound(found, error, generator)
        pairs, sampled = q.pair_probs(), (weighed.log_weights, weighed.Y)
    elif family in BELIEFS:
        beliefs = BELIEFS[family](w, W)
        log_z, pairs = Estimate(beliefs.log_z, 0.0 if bound else np.inf), beliefs.pairs
        if family == "mean-field":
            q = DPP.from_marginal(np.diag(pairs.diagonal()))
            sampled = propose(w, W, q, LEAST, generator)
    elif family == "gibbs":
        log_z, pairs = Estimate(np.nan, np.nan), conditional_moments(w, W, gibbs(w, W, chains, sweeps, generator, q))
    else:
        if family == "ais":
            sampled = annealed(w, W, chains, sweeps, generator)
        else:
            q = search(Sine(mrf.n, SURE)).q if q is None else q
            sampled = propose(w, W, q, 10 * chains, generator)
    covered = None if sampled is None else cover(w, W, *sampled, generator, q)
    if covered is not None and bound is None:
        log_z, pairs = covered.log_z, covered.pairs
    pairs = frozen(np.clip(pairs, 0.0, 1.0))
    lower, samples = float(log_z) if bound == "lower" else None, 0 if sampled is None else len(sampled[1])
    diagnosis = diagnose(mrf, pairs, lower, covered, samples)
    return Approximation(mrf, family, log_z, bound, frozen(pairs.diagonal().copy()), pairs, q, diagnosis)
