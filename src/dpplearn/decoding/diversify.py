"""From scores and embeddings to a diverse selection: MMR's place, taken by a DPP."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, check_vector, is_tensor
from dpplearn._loops.records import SIGNED
from dpplearn._precision import EPS32
from dpplearn.decoding.candidates import Candidates, Directed, read_features, some
from dpplearn.decoding.diversity import check_diversity
from dpplearn.decoding.greedy import as_selection, greedy_auto, greedy_run
from dpplearn.decoding.limits import Limits, check_limits, fits
from dpplearn.decoding.registry import decoder, normal_name
from dpplearn.decoding.selection import Known, Selection
from dpplearn.decoding.skipped import DiverseSelection, Kept, Skipped

__all__ = ["DiverseSelection", "Kept", "Skipped", "diversify"]

ON_DEVICE = "dpplearn.torch.selecting:diversify"  # for tensors; imported with the first of them
WIDEST = 40.0  # largest range of standardized scores: quality ratios stay below e^20, and their squares are floats
HIGHEST = 300.0  # of |log q|, to which scores of too large a scale are brought down: q^2 is a float
SAME = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 8 * EPS32}  # along an axis: unit rows nearer are the same
FILL = 0.4995  # diversity at which every item keeps 1/1000 of its own, so that none is a combination of others


def diversify(
    embeddings: ArrayLike | sparse.sparray | sparse.spmatrix,
    scores: ArrayLike,
    k: int | None = None,
    budget: float | None = None,
    cost: ArrayLike | None = None,
    diversity: float = 0.5,
    method: str = "greedy",
    *,
    strategy: str = "dpp",
    scale: float = 1.0,
    **options: Any,
) -> DiverseSelection:
    """Choose items that score high and differ from each other, by a DPP.

    The items have the kernel L_ij = q_i q_j S_ij, where S_ij is the cosine of their embeddings and

        q_i = sqrt(2) exp(min(1/2, 1 - diversity) z_i),    z_i = scale (score_i - mean) / sigma,

    sigma being the standard deviation of the scores (or 1/40 of their range, where that is more: few scores far from
    all others). So q grows with the score, and scores in any unit do: adding a constant or multiplying by a
    positive number changes nothing. Where all scores are the same, z is 0. Below diversity 1/2 the similarities S_ij of
    different items are multiplied by 2 diversity.

    Parameters
    ----------
    embeddings : array of shape (n, d), dense or scipy sparse, or a torch tensor
        Of any length: only directions count. A row of zeros is similar to none. float32 is read in place; nothing
        of size n x n is made. A tensor, of float16 too, stays on its device, and so does what is chosen of it.
    scores : array of shape (n,)
        Relevance, in any unit: cosines, BM25, logits.
    k : int, optional
        How many items; all of them if there are fewer. Where the embeddings do not have k independent directions
        (duplicates, small d), those that are linear combinations of others come last, with gain -inf, and
        duplicates only when nothing else is left.
    budget : float, optional
        Largest total cost. Without `k` and `budget`, items are taken while they raise the probability: one of
        average score as long as more than half of its squared length is new.
    cost : array of shape (n,), optional
        Positive; 1 each by default.
    diversity : float
        0 ranks by score alone, 1 by similarity alone. From 1/2 up, and at 0, the weights are those of pyversity.
    method : {"greedy", "sampled", "consensus", "exact", "local", "typical"}
        The decoder of `dpplearn.decoding`. All but "greedy" are for a few thousand items at most.
    strategy : {"dpp"}
        So that calls written for pyversity work.
    scale : float
        Strength of the scores, as in pyversity; as much of it as leaves qualities between e^-300 and e^300.
    **options
        For the decoder: include, exclude, n_samples, rng, ...

    Returns
    -------
    DiverseSelection
        A `Selection` that also says, for each item that was skipped, which chosen one is most similar.

    Examples
    --------
    >>> embeddings = [[1.0, 0.0, 0.1], [1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> scores = [9.0, 8.5, 7.0, 3.0]
    >>> diversify(embeddings, scores, k=2).indices
    array([0, 2])
    >>> diversify(embeddings, scores, k=2, diversity=0).indices
    array([0, 1])
    >>> diversify(embeddings, scores, budget=100, cost=[90, 40, 60, 30]).indices
    array([1, 2])
    """
    d = check_diversity(diversity)
    if strategy != "dpp":
        raise ValueError(f'strategy must be "dpp", found {strategy!r}. dpplearn has no other; leave it out.')
    method = normal_name(method, "method")
    if isinstance(budget, str):
        raise TypeError(f"budget must be a number, found {budget!r}. Pass strategy= by name.")
    strength = float(scale)
    if not (np.isfinite(strength) and strength >= 0.0):
        raise ValueError(f"scale must be a number that is not negative, found {scale!r}.")
    if is_tensor(embeddings) or is_tensor(scores):
        on_device = resolve_name(ON_DEVICE)
        return on_device(embeddings, scores, k, budget, cost, d, method, strength, options)
    rows, lengths, z = read_candidates(embeddings, scores)
    parameters = {"scale": scale, "method": method}
    if z.size == 0:
        limits = Limits(z, np.inf, 0, np.empty(0, np.int64), np.empty(0, np.int64), True, 0.0)
        nothing = Directed(np.empty((0, 1)), z, z)
        return DiverseSelection.nothing("no candidates", Known(0.0), d, parameters, limits, nothing)
    z *= factor_of(z, strength, d)
    q = np.exp(z)
    q *= np.sqrt(2.0)
    directed = Directed(rows, lengths, q)
    candidates = Candidates(directed, min(d, 0.5))  # above 1/2 the knob is in q, below it in S
    limits = check_limits(z.size, cost, budget, k, options.get("include", ()), options.get("exclude", ()))
    found = choose(candidates, limits, method, cost, budget, k, options)
    return DiverseSelection.of(found, found.reason, d, parameters, limits, directed)


def factor_of(z: Any, strength: float, diversity: float) -> float:
    """What standardized scores are multiplied by: log q, but for the constant."""
    factor = strength * min(0.5, 1.0 - diversity)
    return factor if factor * WIDEST <= HIGHEST else min(factor, HIGHEST / max(1.0, float(abs(z).max())))


def choose(
    candidates: Candidates, limits: Limits, method: str, cost: Any, budget: float | None, k: int | None, options: Any
) -> Selection:
    """By the decoder; greedy goes on to k, where it can."""
    if method == "greedy" and not options:
        found = greedy(candidates, limits)
    else:
        found = decoder(method)(candidates, cost, budget, k=k, diversity=candidates.diversity, **options)
    if method == "greedy" and k is not None and len(found) < limits.k:
        found = fill(candidates, limits, found)
    return found


def read_candidates(embeddings: Any, scores: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Rows, their lengths and standardized scores, one for each item; or what is wrong with them."""
    if np.ma.isMaskedArray(embeddings) or np.ma.isMaskedArray(scores):
        raise TypeError("embeddings and scores must be plain arrays, found a masked one. Leave those items out.")
    if not sparse.issparse(embeddings):
        embeddings = as_rows(embeddings)
        if embeddings.dtype == np.float16:
            embeddings = embeddings.astype(np.float32)
    s = np.asarray(scores)
    if s.ndim == 2 and s.shape[1] == 1:
        s = s[:, 0]
    n = embeddings.shape[0] if embeddings.ndim else -1
    if s.shape == (0,) and n == 0:
        return embeddings, np.empty(0), np.empty(0)
    if embeddings.ndim != 2 and n != 0:
        raise ValueError(f"embeddings must have one row for each item, found shape {embeddings.shape}.")
    if s.ndim == 1 and s.size != n:
        raise ValueError(
            f"embeddings and scores must have one row and one entry per item: found {n} rows and {s.size} scores."
        )
    if s.dtype.kind == "f" and not np.isfinite(s).all():
        bad = np.flatnonzero(~np.isfinite(s))
        raise ValueError(f"scores must be finite, but those of rows {some(bad)} are not, such as {s[bad[0]]}.")
    values = s.astype(np.float64) if s.dtype.kind == "f" and s.ndim == 1 else check_vector(scores, "scores", n)
    z = standardize(values, np.finfo(s.dtype if s.dtype.kind == "f" else np.float64).eps)
    return *read_features(embeddings, "embeddings"), z


def as_rows(embeddings: Any) -> Any:
    """An array, or which row has another length than the first."""
    try:
        return np.asarray(embeddings)
    except ValueError:
        lengths = [np.size(row) for row in embeddings]
        bad = next((i for i, m in enumerate(lengths) if m != lengths[0]), 0)
        raise ValueError(
            f"embeddings must be rows of equal length, but row {bad} has {lengths[bad]} numbers and row 0 {lengths[0]}."
        ) from None


def standardize(s: Any, eps: float) -> Any:
    """z = (s - mean) / sigma, where sigma is at least 1/40 of the range; 0 where all are equal but for rounding.

    Of an array, or of a tensor.

    >>> standardize(np.array([1.0, 2.0, 3.0]), 1e-16).round(3)
    array([-1.225,  0.   ,  1.225])
    """
    largest = max(-float(s.min()), float(s.max()))
    if largest == 0.0:
        return 0.0 * s
    s = s / largest  # so that no square overflows
    spread = float(s.max() - s.min())
    if spread <= 8 * eps:
        return 0.0 * s
    s -= s.mean()
    sigma = float(s @ s / len(s)) ** 0.5
    s /= max(sigma, spread / WIDEST)
    return s


def greedy(candidates: Candidates, limits: Limits) -> Selection:
    """greedy_map with its defaults, on inputs that were checked before: for few items that is most of the time."""
    reason = limits.empty_reason()
    if reason:
        return Selection.nothing(reason, candidates.log_prob)
    return as_selection(candidates, limits, greedy_auto(candidates, limits, None, -np.inf if limits.bounded else 1.0))


def fill(candidates: Candidates, limits: Limits, found: Selection) -> Selection:
    """What was found, followed by items that are linear combinations of it, up to k; duplicates of others last.

    Each item keeps a little of its own (S = 0.999 S + 0.001 I), so that the rest are ranked too.
    """
    near = replace(candidates, diversity=min(candidates.diversity, FILL))
    items, cost = found.subset, limits.cost
    if limits.empty_reason():
        return found
    kinds = directions(candidates.directed)
    for distinct in (True, False):
        size = -1
        while size < items.size < limits.k:
            size = items.size
            free = limits.alive.astype(np.bool_)
            free[items] = False
            free &= fits(limits.total(items) + cost, limits.budget)
            if distinct:  # one of each direction that nothing chosen has: the best of them
                free &= ~np.isin(kinds, kinds[items])
                order = np.flatnonzero(free)[np.argsort(-candidates.diag[free], kind="stable")]
                free[:] = False
                free[order[np.unique(kinds[order], return_index=True)[1]]] = True
            if not free.any():
                break
            after = replace(limits, include=items, exclude=np.flatnonzero(~free))
            items = greedy_run(near, after, SIGNED, 0.0, -np.inf).items.copy()
    extra = items.size - found.subset.size
    if extra == 0:
        return found
    reason = f"{len(found)} items have independent embeddings; the last {extra} are linear combinations of them"
    gains = np.append(found.gains, np.full(extra, -np.inf))
    return Selection(items, limits.total(items), gains, reason, candidates.log_prob)


def directions(directed: Directed) -> IntArray:
    """A number for each item: the same for two whose rows, but for rounding, have the same direction.

    By their places along two random axes. A row of zeros has a direction of its own.
    """
    axes, zero = np.random.default_rng(0).standard_normal((directed.rows.shape[1], 2)), directed.zero
    kinds = np.where(zero, np.arange(1, zero.size + 1), 0)
    for place in directed.along(axes).T:
        order = np.lexsort((place, kinds))
        new = (np.diff(kinds[order]) > 0) | (np.diff(place[order]) > SAME[directed.precision])
        kinds[order] = np.cumsum(np.append(0, new))
    return kinds
