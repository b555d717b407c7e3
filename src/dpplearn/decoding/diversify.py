"""From scores and embeddings to a diverse selection: MMR's place, taken by a DPP."""

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

from dpplearn._checks import check_choice, check_jobs, check_subset
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
from dpplearn.decoding.selection import (
    HOST,
    ON_DEVICE,
    DiverseSelection,
    Selection,
    Unknown,
    log_prob_of_held,
)
from dpplearn.decoding.window import feed

__all__ = ["DiverseSelection", "diversify"]

TENSORS = "dpplearn.torch.selecting:read_tensors"  # imported with the first tensor
DASK = "dpplearn.decoding.dask:diversify_dask"  # imported with the first Dask array
APPROXIMATE = Unknown("log_prob under a kernel of near items is not computed: its gains are approximate.")
REPEATS = 2e-3  # of the largest L_ii: with items given, an item that gains no more may have nothing but its nugget
NO_RUN = Run(NO_ITEMS, np.empty(0), End.EVERY)
BORROWED = 2**28  # bytes of embeddings from which on a selection does not keep them alive


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

    sigma being the standard deviation of the scores (or 1/40 of their range, where that is more: few scores far from
    all others). So q grows with the score, and scores in any unit do: adding a constant or multiplying by a
    positive number changes nothing. Scores very far from most, such as -1e9 for an item that is masked, do not count
    for the mean and sigma, and are 20 sigma away. Where all scores are the same, but for rounding, z is 0; at diversity
    0 the highest are chosen to the last digit. Below diversity 1/2 the similarities S_ij of
    different items are multiplied by 2 diversity.

    Parameters
    ----------
    embeddings : array of shape (n, d), dense or scipy sparse; or of Arrow or Dask, a column of lists, or a torch tensor
        Of any length: only directions count. A row of zeros is similar to none, and so chosen early: `reason` says how
        many were. float16, float32 and float64 are
        read in place, memory maps and Arrow lists too; other types, byte orders and layouts are copied once. Nothing of
        size n x n or n x k is made. A Dask array is never in memory as a whole: its blocks give candidates, among which
        the choice is made. A tensor stays on its device, and so does what is chosen of it.
    scores : array of shape (n,), optional
        Relevance, in any unit: cosines, BM25, logits. Default: all equal.
    k : int or "auto", optional
        How many items; all of them if there are fewer. It may exceed the number of dimensions: see `kernel`. "auto"
        takes items until a further one would add less than `min_gain` of what the first did. For other decoders than
        "greedy" it is the largest number: where they prefer a smaller set, `reason` says so.
    budget : float, optional
        Largest total cost. Without `k` and `budget`, items are taken while they raise the probability: one of
        average score as long as more than half of its squared length is new.
    cost : array of shape (n,), optional
        Positive; 1 each by default.
    diversity : float
        0 ranks by score alone, 1 by similarity alone. From 1/2 up, and at 0, the weights are those of pyversity.
    decoder : {"greedy", "sampled", "consensus", "exact", "local"}
        How the set is found; see `dpplearn.decoding`. All but "greedy" are for a few thousand items at most.
    scale : float
        Strength of the scores, as in pyversity; as much of it as leaves qualities between e^-300 and e^300.
    nugget : float, optional
        The part of each item that is its own, S = (1 - nugget) cosines + nugget I, so that no item is a linear
        combination of others. Default 0; beside `given` 1e-6, for near items 1e-3. What was taken is in `parameters`.
    min_gain : float
        As a part of what the first item adds, or the best of those to include, for k="auto". With `given`, what
        only repeats them is left out, too.
    include, exclude : arrays of item numbers
        Items that must be in, which come first, and items that must not.
    groups : array of shape (n,), optional
        The source, class or language of each item, as texts, numbers or days: of one kind, and none missing.
    max_per_group, min_per_group : int or dict, optional
        How many items of each group may and must be chosen; a dict names the groups that are limited. What is owed to
        a group is kept free of `k` and of the budget.
    backfill : bool
        Once no group has room for more, lift `max_per_group` and go on, best first.
    given : array, optional
        Items chosen before: rows like the embeddings, which need not be among them, or item numbers. What repeats
        them adds little; none is chosen again by number (it is excluded). Limits and `log_prob` do not count them.
        For greedy choice.
    kernel : {"auto", "linear", "near"}
        "linear": cosines, which know d directions, and no more. "near": cosines of what items stand for, which are
        anchors near them, and tell items apart beyond these (`dpplearn.decoding.near`; greedy choice). "auto" is
        "linear" as long as there are directions for all items to choose, then "near": `parameters` says which it was.
    window : int, optional
        Order a long list as a feed: all items stay (of `k`, the first), and each is the one that gains most given the
        `window - 1` before it, so that so many in a row are diverse; see `dpplearn.decoding.window`. `max_per_group`
        is for each window, and `given` was shown before.
    n_jobs : int, optional
        Threads, for many rows and for sets drawn; workers, for a Dask array. Every core by default.
    **options
        For the decoder: n_samples, rng, gain, ... For a Dask array: client, per_part, progress; see
        `dpplearn.decoding.dask`.

    Returns
    -------
    DiverseSelection
        A `Selection` that also says, for each item that was skipped, which chosen one is most similar.

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
    asked: dict[str, Any] = {"cost": cost, "budget": budget, "k": k, "include": include, "exclude": exclude,
    "groups": groups, "max_per_group": max_per_group, "min_per_group": min_per_group}
    library, other = type(embeddings).__module__.partition(".")[0], type(scores).__module__.partition(".")[0]
    if library == "dask":
        if window is not None:
            raise TypeError("window needs items in memory, and embeddings are a Dask array: pass embeddings.compute().")
        answer: DiverseSelection = resolve_name(DASK)(
            embeddings, scores, settings, asked, given, n_jobs=n_jobs, **options
        )
        return answer
    tensors = "torch" in (library, other)
    if tensors:
        items, kind = resolve_name(TENSORS)(embeddings, scores, settings)
        host = resolve_name(HOST)
        asked, given = {name: host(value) for name, value in asked.items()}, host(given)
    else:
        items, kind = read_items(embeddings, scores, settings, n_jobs), Candidates
    if decoder == "sampled":
        options["n_jobs"] = n_jobs
    n, before = len(items.q), None
    if given is not None:
        before, again = read_given(given, items.rows, items.lengths)
        asked["exclude"] = np.union1d(check_subset(asked["exclude"], n, "exclude"), again)
    limits = check_limits(n, **asked)
    if window is not None:
        selection = feed(items, settings, limits, before, window, options)
    else:
        owner = owner_of(embeddings) if items.rows.data.nbytes > BORROWED and not tensors else None
        selection = choose(items, settings, limits, before, kind, owner, **options)
    return resolve_name(ON_DEVICE)(selection, embeddings, scores) if tensors else selection


class Settings(NamedTuple):
    """How to choose, whatever the items and limits are; `diversify` says what each means."""

    diversity: float = 0.5
    decoder: str = "greedy"
    scale: float = 1.0
    nugget: float | None = None
    min_gain: float | None = None  # of k="auto", else None
    backfill: bool = False
    kernel: str = "auto"

    def may_be_near(self, limits: Limits) -> bool:
        """Whether near items are chosen among where the directions end: if nobody says what items have of their own.

        Below diversity 1/2 all have something: more items than directions are independent.
        """
        return self.kernel == "auto" and self.nugget is None and limits.sized and self.diversity >= 0.5

    def is_near(self, limits: Limits, given: Given | None, directions: int) -> bool:
        """Whether near items are chosen among from the start: as asked for, or because the directions are too few."""
        if self.kernel == "near":
            return self.diversity > 0.0  # by score alone there is nothing to be near
        room = directions - (0 if given is None else len(given.lengths))
        return limits.k > room and self.may_be_near(limits) and limits.most_items > room


def check_settings(settings: Settings) -> Settings:
    """The same with plain numbers, or what is wrong with them."""
    diversity, decoder, scale, nugget, _, _, kernel = settings
    # plain numbers need no look, which would cost small problems a part of their time
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
    """The least gain, beside that of the first item, for k="auto"."""
    if k != "auto":
        raise ValueError(f'k must be a whole number or "auto", found {k!r}.')
    if not 0.0 < check_number(min_gain, "min_gain") < 1.0:
        raise ValueError(f"min_gain must be a number between 0 and 1, found {min_gain}.")
    return float(min_gain)


def read_items(embeddings: Any, scores: Any, settings: Settings, n_jobs: int | None = None) -> Embedded:
    """Rows, their lengths and qualities, one for each item, or what is wrong; without scores all are equal."""
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
    """A memory map whose file became shorter would end the process where it is read; also behind a view of one."""
    whole = None
    while isinstance(rows, np.ndarray):
        whole, rows = (rows if isinstance(rows, np.memmap) else whole), rows.base
    if whole is None or whole.filename is None:
        return
    need, size = whole.offset + whole.nbytes, Path(whole.filename).stat().st_size
    if size < need:
        raise ValueError(
            f"embeddings are a memory map of {need} bytes of {whole.filename}, which has only {size} now. Write the "
            "file anew, and map it again."
        )


def owner_of(embeddings: Any) -> Any:
    """The caller's array, if numbers are in it and nowhere else: a selection is not to keep it alive."""
    owned = type(embeddings) is np.ndarray and embeddings.flags.owndata
    return embeddings if owned or sparse.issparse(embeddings) else None


def choose(
    items: Embedded,
    settings: Settings,
    limits: Limits,
    given: Given | None = None,
    kind: type[Candidates] = Candidates,
    owner: Any = None,
    **options: Any,
) -> DiverseSelection:
    """The choice among items of known quality. It does not keep rows alive that have an owner."""
    own = (0.0 if given is None else SMALL_NUGGET) if settings.nugget is None else settings.nugget
    # above 1/2 the knob is in q, else in S
    candidates = kind(items, min(settings.diversity, 0.5), nugget=own, given=given)
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
        log_prob = APPROXIMATE
    parameters = {"scale": settings.scale, "decoder": settings.decoder, "nugget": candidates.nugget}
    parameters["kernel"] = "near" if candidates.near else "linear"
    cost = limits.total(subset)
    return DiverseSelection(subset, cost, gains, reason, log_prob, settings.diversity, parameters, limits, items)


def choose_by_decoder(
    candidates: Candidates, settings: Settings, limits: Limits, options: dict[str, Any]
) -> tuple[Selection, Candidates]:
    """What another decoder than "greedy" finds, and the kernel that it was found by."""
    asked = {'k="auto"': settings.min_gain, "backfill": settings.backfill, "given": candidates.given}
    asked['kernel="near"'] = settings.kernel == "near"
    for what, there in asked.items():
        if there:
            raise ValueError(f'{what} is for decoder="greedy", found {settings.decoder!r}.')
    past_rank = limits.need.any() and not candidates.nugget
    if past_rank and limits.owed(greedy_run(candidates, limits, -np.inf, strict=False).items):
        candidates = replace(candidates, nugget=SMALL_NUGGET)  # as greedy choice does
    chosen = run_decoder(settings.decoder, candidates, limits, **options)
    if settings.decoder == "sampled" and limits.need.any() and not len(chosen):  # draw larger sets, or smaller ones
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
    """What was chosen, why the run ended, and the kernel that it was chosen by.

    First what limits allow; then what is still owed to `min_per_group`; then what `backfill` adds beyond the caps.
    """
    if reason := limits.empty_reason():
        return NO_RUN, reason, candidates
    greedy = partial(best_run, gain=gain, power=cost_power)
    floor, share = least_gain(limits, stop), 0.0
    if settings.min_gain is not None:
        floor, share = -np.inf, settings.min_gain
        if candidates.given is not None:  # what has little but a small nugget only repeats items given
            floor = min(2.0 * candidates.nugget, REPEATS) * float(candidates.diag.max())
    run, candidates = run_by_kernel(partial(greedy, floor=floor, share=share), candidates, settings, limits)
    reason = reason_of(limits, run, settings.min_gain)
    if owed := limits.owed(run.items):  # past the rank, or below the least gain
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
    """A greedy run by cosines, or by near items where these have too few directions; and the kernel of the two."""
    assert isinstance(candidates.model, Embedded)
    given, columns = candidates.given, candidates.model.rows.shape[1]
    # rows of zeros are directions, too, but only a look at all of them tells
    if settings.is_near(limits, given, columns) and settings.is_near(limits, given, candidates.directions):
        candidates = candidates.near_items()
    run = greedy(candidates, limits)
    if run.end == End.RANK and not candidates.near and settings.may_be_near(limits):  # here the directions end
        candidates = candidates.near_items()
        run = greedy(candidates, limits)
    return run, candidates
