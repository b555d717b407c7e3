"""Chooses items that score high and differ from each other, from scores and embeddings, where people use MMR."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import check_choice, check_disjoint, check_jobs, check_subset
from dpplearn._holders import as_numbers
from dpplearn.decoding.candidates import SMALL_NUGGET, Candidates, Embedded, Given, read_features, read_given
from dpplearn.decoding.engine import Run
from dpplearn.decoding.greedy import best_run, check_rule, greedy_run, least_gain, reason_of
from dpplearn.decoding.limits import (
    NO_ITEMS,
    Bound,
    End,
    Limits,
    check_diversity,
    check_limits,
    check_nugget,
    check_number,
)
from dpplearn.decoding.registry import check_decoder, check_options, run_decoder
from dpplearn.decoding.scores import qualities, read_scores
from dpplearn.decoding.selection import HOST, ON_DEVICE, DiverseSelection, Selection, Unknown, log_prob_of_held
from dpplearn.decoding.window import feed

__all__ = ["DiverseSelection", "diversify"]

TENSORS = "dpplearn.torch.selecting:read_tensors"  # imported with the first tensor
DASK = "dpplearn.decoding.dask:diversify_dask"  # imported with the first Dask array
NEAR_UNKNOWN = Unknown("log_prob under a kernel of near items is not computed: its gains are approximate.")
LEAST_NEW_SHARE = 2e-3  # if its gain is below this share of the largest L_ii, an item may only repeat the given ones
MAX_HELD_BYTES = 2**28  # a selection does not keep more bytes of embeddings alive than this


def diversify(
    embeddings: ArrayLike | sparse.sparray | sparse.spmatrix,
    scores: ArrayLike | None = None,
    k: int | str | None = None,
    budget: float | None = None,
    cost: ArrayLike | None = None,
    diversity: float = 0.5,
    decoder: str = "greedy",
    *,
    scale: float = 1.0,
    nugget: float | None = None,
    min_gain: float = 0.01,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    backfill: bool = False,
    given: Any = None,
    kernel: str = "auto",
    window: int | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> DiverseSelection:
    """Choose items that score high and differ from each other, by a DPP.

    The items have the kernel L_ij = q_i q_j S_ij, where S_ij is the cosine of their embeddings and

        q_i = sqrt(2) exp(min(1/2, 1 - diversity) z_i),    z_i = scale (score_i - mean) / sigma,

    where sigma is the standard deviation of the scores, and at least 1/40 of their range. Scores may have any unit:
    adding a constant or multiplying by a positive number changes nothing. A score very far from the others, such as
    -1e9 for a masked item, is left out of the mean and of sigma, and counts as 20 sigma away. If all scores are equal
    but for rounding, z is 0. Below diversity 1/2, similarities S_ij of different items are multiplied by 2 diversity;
    at 0, scores are compared to the last digit.

    Parameters
    ----------
    embeddings : array of shape (n, d), dense or scipy sparse; or of Arrow or Dask, a column of lists, or a torch tensor
        Rows may have any length: only directions count. A row of zeros is similar to nothing, and is therefore chosen
        early; `reason` says how many were. float16, float32 and float64, memory maps and Arrow lists are read in place;
        other types, byte orders and layouts are copied once. Nothing of size n x n or n x k is made. A Dask array is
        never in memory as a whole: the choice is made among candidates from each block. A tensor stays on its device,
        and the selection has tensors on it.
    scores : array of shape (n,), optional
        Relevance, in any unit: cosines, BM25, logits. Default: all equal.
    k : int or "auto", optional
        How many items; all of them if there are fewer. It may exceed the number of dimensions: see `kernel`. "auto"
        stops when every other item would add less than `min_gain` times what the first one added. Decoders other than
        "greedy" may prefer a set of fewer than k items, and `reason` then says so.
    budget : float, optional
        Largest total cost. Without `k` and `budget`, items are taken while they raise the probability: an item of
        average score does so if more than half of its squared length is new.
    cost : array of shape (n,), optional
        Positive; 1 each by default.
    diversity : float
        0 ranks by score alone, 1 by similarity alone. From 1/2 up, and at 0, the weights are those of pyversity.
    decoder : {"greedy", "sampled", "consensus", "exact", "local"}
        How the set is found; see `dpplearn.decoding`. All but "greedy" are for a few thousand items at most.
    scale : float
        Strength of the scores, as in pyversity. It is reduced if qualities would leave the range e^-300 to e^300.
    nugget : float, optional
        The part of each item that no other item shares, S = (1 - nugget) cosines + nugget I. With a nugget, no item is
        a linear combination of others. Default: 0, 1e-6 with `given`, 1e-3 with near items; `parameters` says which.
    min_gain : float
        For k="auto". With `given`, items that only repeat those are left out, too.
    include, exclude : arrays of item numbers
        Items that must be in, which come first, and items that must not.
    groups : array of shape (n,), optional
        The source, class or language of each item, as texts, numbers or days. None may be missing.
    max_per_group, min_per_group : int or dict, optional
        How many items of each group may and must be chosen; a dict names the groups that are limited. Room for items
        that a group must still get is kept free in `k` and in the budget.
    backfill : bool
        Once no group has room for more, lift `max_per_group` and go on, best first.
    given : array, optional
        Items chosen before: item numbers, or rows like the embeddings. Items that repeat them add little, and items
        given by number are excluded. Limits and `log_prob` do not count them. Only for greedy choice.
    kernel : {"auto", "linear", "near"}
        "linear" compares items by cosines, which tell at most d items apart. "near" compares them by the sampled items
        near them, and goes beyond d (`dpplearn.decoding.near`; greedy choice). "auto" is "linear" as long as there are
        directions for all items to choose, then "near"; `parameters` says which it was.
    window : int, optional
        Order a long list as a feed: all items stay (or the first `k`), and each is the one that gains most given the
        `window - 1` items before it; see `dpplearn.decoding.window`. `max_per_group` then holds in each window, and
        `given` are the items shown before.
    n_jobs : int, optional
        Threads, for many rows and for sets drawn; workers, for a Dask array. Every core by default.
    **options
        For the decoder: n_samples, rng, gain, ... For a Dask array: client, per_part, progress; see
        `dpplearn.decoding.dask`.

    Returns
    -------
    DiverseSelection
        A `Selection` that also names, for each item that was skipped, the chosen item most similar to it.

    Examples
    --------
    >>> embeddings = [[1.0, 0.0, 0.1], [1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> scores = [9.0, 8.5, 7.0, 3.0]
    >>> diversify(embeddings, scores, k=2).subset
    array([0, 2])
    >>> diversify(embeddings, scores, k=2, diversity=0).subset
    array([0, 1])
    >>> diversify(embeddings, scores, budget=100, cost=[90, 40, 60, 30]).subset
    array([1, 2])
    >>> diversify(embeddings, scores, window=2).subset  # a feed of all four
    array([0, 2, 1, 3])
    """
    least = None
    if isinstance(k, str):
        least, k = gain_for_auto(k, min_gain), None
    if backfill and max_per_group is None:
        raise ValueError("backfill needs max_per_group, beyond which it goes on.")
    if n_jobs is not None:
        check_jobs(n_jobs)
    settings = check_settings(Settings(diversity, decoder, scale, nugget, least, backfill, kernel))
    limited_by: dict[str, Any] = {"cost": cost, "budget": budget, "k": k, "include": include, "exclude": exclude}
    limited_by |= {"groups": groups, "max_per_group": max_per_group, "min_per_group": min_per_group}
    library, other = type(embeddings).__module__.partition(".")[0], type(scores).__module__.partition(".")[0]
    if library == "dask":
        if window is not None:
            raise TypeError("window needs items in memory, and embeddings are a Dask array: pass embeddings.compute().")
        choose_on_dask: Callable[..., DiverseSelection] = resolve_name(DASK)
        return choose_on_dask(embeddings, scores, settings, limited_by, given, n_jobs=n_jobs, **options)
    tensors = "torch" in (library, other)
    if tensors:
        items, kind = resolve_name(TENSORS)(embeddings, scores, settings)
        host = resolve_name(HOST)
        limited_by, given = {name: host(value) for name, value in limited_by.items()}, host(given)
    else:
        items, kind = read_items(embeddings, scores, settings, n_jobs), Candidates
    if decoder == "sampled":
        options["n_jobs"] = n_jobs
    n, before = len(items.q), None
    if given is not None:
        before, repeated = read_given(given, items.rows, items.lengths)
        check_disjoint(limited_by["include"], repeated, n, "given")
        limited_by["exclude"] = np.union1d(check_subset(limited_by["exclude"], n, "exclude"), repeated)
    limits = check_limits(n, **limited_by)
    if window is not None:
        selection = feed(items, settings, limits, before, window, options)
    else:
        owner = None
        if items.rows.data.nbytes > MAX_HELD_BYTES and not tensors:  # only the caller's own array outlives this call
            owned = type(embeddings) is np.ndarray and embeddings.flags.owndata
            owner = embeddings if owned or sparse.issparse(embeddings) else None
        selection = choose(items, settings, limits, before, kind, owner, **options)
    return resolve_name(ON_DEVICE)(selection, embeddings, scores) if tensors else selection


class Settings(NamedTuple):
    """How to choose, apart from the items and the limits; `diversify` describes each setting."""

    diversity: float = 0.5
    decoder: str = "greedy"
    scale: float = 1.0
    nugget: float | None = None
    min_gain: float | None = None  # None unless k="auto"
    backfill: bool = False
    kernel: str = "auto"

    def may_be_near(self, limits: Limits) -> bool:
        """Whether "auto" may change to the kernel of near items once the directions are used up.

        It may not if the caller set a nugget, nor below diversity 1/2: then more items than directions are independent.
        """
        return self.kernel == "auto" and self.nugget is None and limits.sized and self.diversity >= 0.5

    def is_near(self, limits: Limits, given: Given | None, directions: int) -> bool:
        """Whether to use the kernel of near items from the start, as asked for or because there are few directions."""
        if self.kernel == "near":
            return self.diversity > 0.0  # at 0, scores alone decide
        room = directions - (0 if given is None else len(given.lengths))
        return limits.k > room and self.may_be_near(limits) and limits.most_items > room


def check_settings(settings: Settings) -> Settings:
    """The same with plain numbers; or an error. Python floats in range skip the slower checks, for small problems."""
    diversity, decoder, scale, nugget, _, _, kernel = settings
    if type(diversity) is not float or not 0.0 <= diversity <= 1.0:
        settings = settings._replace(diversity=check_diversity(diversity))
    if type(scale) is not float or not 0.0 <= scale < np.inf:
        settings = settings._replace(scale=check_number(scale, "scale", 0.0))
        if scale == np.inf:
            raise ValueError("scale must be finite, found inf.")
    if nugget is not None:
        settings = settings._replace(nugget=check_nugget(nugget))
    if decoder != "greedy":
        check_decoder(decoder)
    if kernel != "auto":
        check_choice(kernel, "kernel", ("auto", "linear", "near"))
    return settings


def gain_for_auto(k: str, min_gain: Any = 0.01) -> float:
    """The share of the first item's gain at which k="auto" stops."""
    if k != "auto":
        raise ValueError(f'k must be a whole number or "auto", found {k!r}.')
    if not 0.0 < check_number(min_gain, "min_gain") < 1.0:
        raise ValueError(f"min_gain must be a number between 0 and 1, found {min_gain}.")
    return float(min_gain)


def read_items(embeddings: Any, scores: Any, settings: Settings, n_jobs: int | None = None) -> Embedded:
    """The items' rows, their lengths and qualities; without scores, all qualities are equal."""
    if isinstance(embeddings, np.ndarray) and embeddings.base is not None:
        check_whole(embeddings)
    plain = isinstance(embeddings, np.ndarray) or sparse.issparse(embeddings)
    rows: Any = embeddings if plain else as_numbers(embeddings, "embeddings")
    n = rows.shape[0] if rows.ndim else 1
    if n == 0 and (scores is None or np.shape(scores) == (0,)):
        return Embedded(rows, np.empty(0), np.empty(0))
    z = np.zeros(n) if scores is None else read_scores(scores, n, settings.diversity == 0.0)
    return Embedded(*read_features(rows, "embeddings", n_jobs=n_jobs), qualities(z, settings.scale, settings.diversity))


def check_whole(rows: Any) -> None:
    """An error if the rows are a memory map, or a view of one, whose file became shorter: reading it would crash."""
    whole = None
    while isinstance(rows, np.ndarray):
        whole, rows = (rows if isinstance(rows, np.memmap) else whole), rows.base
    if whole is not None and whole.filename is not None:
        need, size = whole.offset + whole.nbytes, Path(whole.filename).stat().st_size
        if size < need:
            found = f"a memory map of {need} bytes of {whole.filename}, which has only {size} now"
            raise ValueError(f"embeddings are {found}. Write the file anew, and map it again.")


def choose(
    items: Embedded,
    settings: Settings,
    limits: Limits,
    given: Given | None = None,
    kind: type[Candidates] = Candidates,
    owner: Any = None,
    **options: Any,
) -> DiverseSelection:
    """Choose among items whose qualities are known. The selection has only a weak reference to rows with an `owner`."""
    nugget = (0.0 if given is None else SMALL_NUGGET) if settings.nugget is None else settings.nugget
    # above 1/2, diversity is already in the qualities; below, it is in the similarities
    candidates = kind(items, min(settings.diversity, 0.5), nugget=nugget, given=given)
    if settings.decoder == "greedy":
        if options:
            check_options("greedy", options)
            check_rule(**options)
        run, reason, candidates = choose_greedily(candidates, settings, limits, **options)
        subset, gains = run.items, np.log(run.gains)
    else:
        chosen, candidates = choose_by_decoder(candidates, settings, limits, options)
        subset, gains, reason = chosen.subset, chosen.gains, chosen.reason
    if zeros := items.lengths[subset].tolist().count(0.0):
        reason += f"; {zeros} of these {'is a row' if zeros == 1 else 'are rows'} of zeros, similar to nothing"
    log_prob: Any = candidates.log_prob
    if owner is not None:
        items = items._replace(rows=weakref.ref(owner))
        log_prob = partial(log_prob_of_held, items, candidates.nugget)
    if candidates.near:
        log_prob = NEAR_UNKNOWN
    parameters = {"scale": settings.scale, "decoder": settings.decoder, "nugget": candidates.nugget}
    parameters["kernel"] = "near" if candidates.near else "linear"
    cost = limits.total(subset)
    return DiverseSelection(subset, cost, gains, reason, log_prob, settings.diversity, parameters, limits, items)


def choose_by_decoder(
    candidates: Candidates, settings: Settings, limits: Limits, options: dict[str, Any]
) -> tuple[Selection, Candidates]:
    """The selection of a decoder other than "greedy", and the kernel that it used."""
    greedy_only = {'k="auto"': settings.min_gain, "backfill": settings.backfill, "given": candidates.given}
    greedy_only['kernel="near"'] = settings.kernel == "near"
    for name, asked in greedy_only.items():
        if asked:
            raise ValueError(f'{name} is for decoder="greedy", found {settings.decoder!r}.')
    past_rank = limits.need.any() and not candidates.nugget
    if past_rank and limits.owed(greedy_run(candidates, limits, -np.inf, strict=False).items):
        candidates = replace(candidates, nugget=SMALL_NUGGET)  # as `choose_greedily` does
    chosen = run_decoder(settings.decoder, candidates, limits, **options)
    if settings.decoder == "sampled" and limits.need.any() and not len(chosen):  # try sets of the right size
        chosen = run_decoder(settings.decoder, candidates, limits, **{"tilt": True} | options)
    return chosen, candidates


def choose_greedily(
    candidates: Candidates,
    settings: Settings,
    limits: Limits,
    gain: str = "auto",
    cost_power: float | None = None,
    stop: str | None = None,
) -> tuple[Run, str, Candidates]:
    """The run, the reason why it ended, and the kernel that it used.

    First come the items that all limits allow, then those that `min_per_group` still lacks, then those of `backfill`.
    """
    if reason := limits.empty_reason():
        return Run(NO_ITEMS, np.empty(0), End.EVERY), reason, candidates
    greedy = partial(best_run, gain=gain, power=cost_power)
    floor, share = least_gain(limits, stop), 0.0
    if settings.min_gain is not None:
        floor, share = -np.inf, settings.min_gain
        if candidates.given is not None:  # an item with little more than its nugget repeats the given ones
            floor = min(2.0 * candidates.nugget, LEAST_NEW_SHARE) * float(candidates.diag.max())
    run, candidates = run_by_kernel(partial(greedy, floor=floor, share=share), candidates, settings, limits)
    reason = reason_of(limits, run, settings.min_gain)
    if owed := limits.owed(run.items):  # their groups have only items past the rank, or with too small a gain
        candidates = candidates if candidates.nugget else replace(candidates, nugget=SMALL_NUGGET)
        run = greedy(candidates, replace(limits, include=run.items, k=run.items.size + owed), -np.inf)
        reason += f"; then {owed} for min_per_group"
    if settings.backfill and limits.quota_bars(run.items):
        within, caps = run.items.size, np.full_like(limits.most, limits.k)
        no_cap = replace(limits, include=run.items, most=caps, need=0 * limits.need)
        run = greedy(candidates, no_cap, floor, share=share)
        reason = reason_of(limits, run, settings.min_gain)
        if beyond := run.items.size - within:
            reason += f"; the last {f'{beyond} are' if beyond > 1 else 'one is'} beyond max_per_group"
    if candidates.near and settings.kernel == "auto":
        columns = candidates.embedded.rows.shape[1]
        reason += f"; by near items, because the embeddings have {columns} direction{'s' * (columns != 1)}"
    return run, reason, candidates


def run_by_kernel(
    greedy: Callable[[Candidates, Limits], Run], candidates: Candidates, settings: Settings, limits: Limits
) -> tuple[Run, Candidates]:
    """A greedy run by cosines, or by near items if there are too few directions; and the kernel that it used."""
    assert isinstance(candidates.model, Embedded)
    given, columns = candidates.given, candidates.model.rows.shape[1]
    # `directions` also counts rows of zeros, which takes a pass over all items: so ask for it second
    if settings.is_near(limits, given, columns) and settings.is_near(limits, given, candidates.directions):
        candidates = candidates.near_items()
    run = greedy(candidates, limits)
    if run.end == End.RANK and not candidates.near and settings.may_be_near(limits):  # the directions are used up
        candidates = candidates.near_items()
        run = greedy(candidates, limits)
    return run, candidates
