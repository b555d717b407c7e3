"""From scores and embeddings to a diverse selection: MMR's place, taken by a DPP."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import is_tensor
from dpplearn.decoding.asked import Asked, Each, check_asked, choose, qualities
from dpplearn.decoding.candidates import Directed
from dpplearn.decoding.embeddings import read_candidates
from dpplearn.decoding.groups import Bound
from dpplearn.decoding.skipped import DiverseSelection, Kept, Skipped

__all__ = ["DiverseSelection", "Kept", "Skipped", "diversify"]

ON_DEVICE = "dpplearn.torch.selecting:diversify"  # for tensors; imported with the first of them


def diversify(
    embeddings: ArrayLike | sparse.sparray | sparse.spmatrix,
    scores: ArrayLike,
    k: int | str | None = None,
    budget: float | None = None,
    cost: ArrayLike | None = None,
    diversity: float = 0.5,
    method: str = "greedy",
    *,
    strategy: str = "dpp",
    scale: float = 1.0,
    nugget: float | None = None,
    share: float = 0.01,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    given: Any = None,
    kernel: str = "linear",
    bandwidth: float | None = None,
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
    embeddings : array of shape (n, d), dense or scipy sparse; or of Arrow or Dask, or a torch tensor
        Of any length: only directions count. A row of zeros is similar to none. float16, float32 and float64 are
        read in place, memory maps and Arrow lists too; other types, byte orders and layouts are copied once. Nothing of
        size n x n or n x k is made. A Dask array is never in memory as a whole: its blocks give candidates, among which
        the choice is made. A tensor stays on its device, and so does what is chosen of it; past the rank, items that
        are combinations of others have gain -inf there.
    scores : array of shape (n,)
        Relevance, in any unit: cosines, BM25, logits.
    k : int or "auto", optional
        How many items; all of them if there are fewer. It may exceed the number of dimensions: see `nugget`. "auto"
        takes items until a further one would add less than `share` of what the first did. For other methods than
        "greedy" it is the largest number: where they prefer a smaller set, `reason` says so.
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
    nugget : float, optional
        The part of each item that is its own, S = (1 - nugget) cosines + nugget I, so that no item is a linear
        combination of others. Once the items chosen, with unit rows U_Y, span all directions, an item adds
        q_i^2 nugget (1 + u_i^T (U_Y^T U_Y)^-1 u_i) for a small nugget: more, the less its direction was chosen.
        Items whose embedding repeats that of a chosen one wait until no other is left (for diversity 1/2 and above).
        Default 0, unless fewer than k items are independent: then 1e-6. So a budget without k is not spent on
        combinations of others. What was taken is in `parameters`.
    share : float
        Of what the first item adds, for k="auto". Under kernel="rbf" and "local" items keep more of their own, and
        0.1 to 0.5 leaves out what a smaller share does not.
    include, exclude : arrays of item numbers
        Items that must be in, which come first, and items that must not.
    groups : array of shape (n,), optional
        The source, class or language of each item, as texts or numbers.
    max_per_group, min_per_group : int or dict, optional
        How many items of each group may and must be chosen; a dict names the groups that are limited. What is owed to
        a group is kept free of `k` and of the budget.
    given : array, optional
        Items chosen earlier: rows like the embeddings, which need not be among them, or item numbers. What repeats
        them adds little; none is chosen again by number. Limits and `log_prob` do not count them.
    kernel : {"linear", "rbf", "local"}
        "linear": cosines, which know d directions. The others tell near items apart beyond these: see
        `dpplearn.decoding.nearby`. They need method="greedy" and dense embeddings.
    bandwidth : float, optional
        The distance of unit rows at which items are still similar, for the other kernels. Default: the one within
        which an item has n/k others, as a sample says; it is in `parameters`.
    **options
        For the decoder: n_samples, rng, ... For a Dask array: client, n_jobs, per_part, resume, progress; see
        `dpplearn.decoding.rounds`. For kernel="rbf" and "local": index, whether neighbours are found by an index of
        faiss (default: where it is installed, past 131,072 chosen and given items).

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
    if strategy != "dpp":
        raise ValueError(f'strategy must be "dpp", found {strategy!r}. dpplearn has no other; leave it out.')
    if isinstance(budget, str):
        raise TypeError(f"budget must be a number, found {budget!r}. Pass strategy= by name.")
    limits = (max_per_group, min_per_group)
    asked = check_asked(Asked(k, budget, diversity, method, scale, nugget, share, *limits, options, kernel, bandwidth))
    each = Each(cost, include, exclude, groups)
    if not (type(embeddings) is type(scores) is np.ndarray):
        if is_tensor(embeddings) or is_tensor(scores):
            return on_device(embeddings, scores, asked, each, given)
        if is_dask(embeddings):
            from dpplearn.decoding.rounds import diversify_dask

            return diversify_dask(embeddings, scores, asked, each, given)
    rows, lengths, z = read_candidates(embeddings, scores)
    return choose(Directed(rows, lengths, qualities(z, asked)), asked, each, given)


def on_device(embeddings: Any, scores: Any, asked: Asked, each: Each, given: Any) -> Any:
    """The choice among tensors, which stay where they are."""
    plain = asked._replace(k=asked.size, nugget=None, max_per_group=None, min_per_group=None, kernel="linear")
    if plain != asked or each.groups is not None or given is not None:
        raise ValueError('k="auto", nugget, groups, given and other kernels need arrays, found tensors: pass E.cpu().')
    options = asked.options | {name: x for name, x in (("include", each.include), ("exclude", each.exclude)) if len(x)}
    wanted = (asked.k, asked.budget, each.cost, asked.diversity, asked.method, float(asked.scale), options)
    return resolve_name(ON_DEVICE)(embeddings, scores, *wanted)


def is_dask(x: Any) -> bool:
    """Whether this is an array of Dask, which need not be installed."""
    return type(x).__module__.partition(".")[0] == "dask"
