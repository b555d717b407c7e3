"""Is a pairwise field DPP-like? What its weights say, and what weighed samples of q say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.mrf.coverage import Covered
from dpplearn.mrf.messages import mean_field
from dpplearn.mrf.pairwise import PairwiseMRF
from dpplearn.mrf.transitivity import triangle_inequality

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
    covered : bool or None
        Whether the samples see all that was found of the field. False: the error of log Z is unknown, and so are those
        of `divergence` and `missed`; `reason` says what the samples miss. None where the method has no samples.
    divergence : float
        KL(q || field) = log Z - bound, with log Z from sets of known weight and from samples of q weighed by
        exp(score) / q; from a short annealing, where that is more sure, or finds what the samples miss.
    missed : float
        The divergence as a share of mean field's: 0 where q has all the dependence between the items, 1 where none.
    effective : float
        Effective share of those samples: 1 where q is the field; less by the share of Z that they do not see.
        Like `divergence` and `missed`, not a number where the method has no such samples.
    """

    dpp_like: bool
    reason: str
    violation: float
    attraction: float
    positive: float
    covered: bool | None
    divergence: float
    missed: float
    effective: float

    def __repr__(self) -> str:
        said = (f"{n}={x:.4g}" if isinstance(x, float) else f"{n}={x!r}" for n, x in vars(self).items())
        return f"Diagnosis({', '.join(said)})"


def diagnose(
    mrf: PairwiseMRF, pairs: FloatArray, lower: float | None, sampled: Covered | None, samples: int
) -> Diagnosis:
    """From the weights, and from so many weighed samples; `lower` is the bound of the q that they are from."""
    S = np.sqrt(-np.expm1(np.minimum(mrf.W, 0.0)))
    np.fill_diagonal(S, 1.0)
    violation = triangle_inequality(S).mean_angle_violation
    total = float(np.abs(mrf.W).sum())
    attraction = float(np.maximum(mrf.W, 0.0).sum()) / total if total else 0.0
    divergence = missed = effective = np.nan
    noise, covered = 0.0, None
    if sampled is not None:
        pairs, effective, covered = sampled.pairs, sampled.effective, not sampled.unseen
        noise = 4.0 / np.sqrt(effective * samples)
        if lower is not None:
            divergence = max(sampled.best - lower, 0.0)
            missed = divergence / max(sampled.best - mean_field(mrf.w, mrf.W).log_z, 1e-12)
    d = pairs.diagonal()
    spread = np.sqrt(np.maximum(d * (1 - d), 1e-12))
    correlation = (pairs - np.outer(d, d)) / np.outer(spread, spread)
    np.fill_diagonal(correlation, -1.0)
    positive = max(float(correlation.max(initial=0.0)) - noise, 0.0)
    if sampled is not None and effective < EFFECTIVE:
        like, reason = False, f"only {effective:.1%} of the samples count: they miss where the field has its mass"
    elif lower is None:
        like = violation < 0.01 and attraction == 0.0
        reason = "only the weights tell" + ("" if sampled is None else f"; {effective:.0%} of the samples count")
    else:
        like = bool(covered and (missed <= MISSED or divergence <= CLOSE))
        least = "" if covered else "at least "
        reason = f"q misses {least}{divergence:.2g} nats, {min(missed, 1.0):.0%} of the dependence between the items"
    if sampled is not None and sampled.unseen:
        reason += f"; the error of log Z is unknown, because the samples do not see all of the field: {sampled.unseen}"
    if not like or lower is None:
        reason += (
            f"; triangle violation {violation:.2g}, attraction {attraction:.2g}, correlation up to +{positive:.2g}"
        )
    return Diagnosis(like, reason, violation, attraction, positive, covered, divergence, missed, effective)
