"""From scores and embeddings to a diverse selection: MMR's place, taken by a DPP."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import check_choice, is_tensor
from dpplearn.decoding.candidates import (
    NUGGET,
    Borrowed,
    BorrowedLogProb,
    Candidates,
    Embedded,
    Given,
    check_diversity,
    check_nugget,
)
from dpplearn.decoding.embeddings import qualities, read_candidates, read_given
from dpplearn.decoding.engine import Run
from dpplearn.decoding.greedy import as_selection, best_run, check_rule, describe
from dpplearn.decoding.limits import Bound, End, Limits, check_limits, check_number, check_share
from dpplearn.decoding.near import NUGGET as NEAR_NUGGET
from dpplearn.decoding.registry import check_decoder, run_decoder
from dpplearn.decoding.selection import DiverseSelection, Kept, Selection, Skipped

__all__ = ["DiverseSelection", "Kept", "Skipped", "diversify"]

# imported with the first tensor
TENSORS, HOST, ON_DEVICE = (f"dpplearn.torch.selecting:{name}" for name in ("read_tensors", "host", "on_device"))
DASK = "dpplearn.decoding.dask:diversify_dask"  # imported with the first Dask array
KERNELS = ("auto", "linear", "near")
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
    decoder : {"greedy", "sampled", "consensus", "exact", "local", "typical"}
        How the set is found; see `dpplearn.decoding`. All but "greedy" are for a few thousand items at most.
    scale : float
        Strength of the scores, as in pyversity; as much of it as leaves qualities between e^-300 and e^300.
    nugget : float, optional
        The part of each item that is its own, S = (1 - nugget) cosines + nugget I, so that no item is a linear
        combination of others. Default 0; beside `given` 1e-6, for near items 1e-3. What was taken is in `parameters`.
    min_gain : float
        As a part of what the first item adds, for k="auto".
    include, exclude : arrays of item numbers
        Items that must be in, which come first, and items that must not.
    groups : array of shape (n,), optional
        The source, class or language of each item, as texts or numbers.
    max_per_group, min_per_group : int or dict, optional
        How many items of each group may and must be chosen; a dict names the groups that are limited. What is owed to
        a group is kept free of `k` and of the budget.
    backfill : bool
        Once no group has room for more, lift `max_per_group` and go on, best first.
    given : array, optional
        Items chosen before: rows like the embeddings, which need not be among them, or item numbers. What repeats
        them adds little; none is chosen again by number. Limits and `log_prob` do not count them.
    kernel : {"auto", "linear", "near"}
        "linear": cosines, which know d directions, and no more. "near": exp((cosine - 1) / width), which tells near
        items apart beyond these (`dpplearn.decoding.near`; greedy choice). "auto" is "linear"
        as long as there are directions for all items to choose, and then "near": `parameters` says which it was.
    **options
        For the decoder: n_samples, rng, gain, ... For a Dask array: client, n_jobs, per_part, work, progress; see
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
    """
    settings = check_settings(
        Settings(k, budget, diversity, decoder, scale, nugget, min_gain, max_per_group, min_per_group, backfill, kernel)
    )
    if type(embeddings).__module__.partition(".")[0] == "dask":
        per_item = {"cost": cost, "include": include, "exclude": exclude, "groups": groups}
        answer: DiverseSelection = resolve_name(DASK)(embeddings, scores, settings, given=given, **per_item, **options)
        return answer
    tensors = is_tensor(embeddings) or is_tensor(scores)
    kind: type[Candidates] = Candidates
    if tensors:
        rows, lengths, z, kind = resolve_name(TENSORS)(embeddings, scores, decoder)
        cost, include, exclude, groups, given = map(resolve_name(HOST), (cost, include, exclude, groups, given))
    else:
        rows, lengths, z = read_candidates(embeddings, scores)
    known: Given | None = None
    if given is not None:
        *before, again = read_given(given, rows, lengths)
        known = Given(*before)
        exclude = np.union1d(exclude, again).astype(np.int64) if again.size else exclude
    limits = settings.limits(len(z), cost, include, exclude, groups)
    embedded = Embedded(rows, lengths, qualities(z, settings.scale, settings.diversity))
    owned = sparse.issparse(embeddings) or (type(embeddings) is np.ndarray and embeddings.flags.owndata)
    large = owned and not tensors and (rows.data if sparse.issparse(rows) else rows).nbytes > BORROWED
    owner = embeddings if large else None
    selection = choose_among(embedded, settings, limits, known, kind, owner, **options)
    return resolve_name(ON_DEVICE)(selection, embeddings, scores) if tensors else selection


class Settings(NamedTuple):
    """What is asked for, whatever the items are; `diversify` says what each means."""

    k: int | str | None
    budget: float | None
    diversity: float
    decoder: str
    scale: float
    nugget: float | None
    min_gain: float
    max_per_group: Bound | None
    min_per_group: Bound | None
    backfill: bool
    kernel: str

    @property
    def size(self) -> int | None:
        return None if isinstance(self.k, str) else self.k

    def limits(self, n: int, cost: Any = None, include: Any = (), exclude: Any = (), groups: Any = None) -> Limits:
        """The limits of n items."""
        quotas = (groups, self.max_per_group, self.min_per_group)
        return check_limits(n, cost, self.budget, self.size, include, exclude, *quotas)


def check_settings(settings: Settings) -> Settings:
    """The same with plain numbers, or what is wrong with them."""
    k, budget, scale = settings.k, settings.budget, check_number(settings.scale, "scale")
    if isinstance(k, str) and k != "auto":
        raise ValueError(f'k must be a whole number or "auto", found {k!r}.')
    if isinstance(budget, str):
        raise TypeError(f"budget must be a number, found {budget!r}.")
    if not 0.0 <= scale < np.inf:
        raise ValueError(f"scale must be a number that is not negative, found {scale!r}.")
    if settings.nugget is not None:
        check_nugget(settings.nugget)
    check_decoder(settings.decoder)
    check_choice(settings.kernel, "kernel", KERNELS)
    if k == "auto":
        check_share(settings.min_gain, "min_gain")
    if settings.backfill and settings.max_per_group is None:
        raise ValueError("backfill needs max_per_group, beyond which it goes on.")
    return settings._replace(scale=scale, diversity=check_diversity(settings.diversity))


def choose_among(
    embedded: Embedded,
    settings: Settings,
    limits: Limits,
    given: Given | None = None,
    kind: type[Candidates] = Candidates,
    owner: Any = None,
    **options: Any,
) -> DiverseSelection:
    """The choice among items of known quality. It does not keep rows alive that have an owner."""
    k, decoder, kernel, nugget = settings.k, settings.decoder, settings.kernel, settings.nugget
    own = (NUGGET if given is not None else 0.0) if nugget is None else float(nugget)
    # above 1/2 the knob is in q, else in S
    candidates = kind(embedded, min(settings.diversity, 0.5), nugget=own, given=given)
    if decoder == "greedy":
        least = settings.min_gain if k == "auto" else None
        # below diversity 1/2 every item has something of its own: more than the directions are independent
        known = nugget is not None or settings.size is None or settings.diversity < 0.5
        linear = kernel == "linear" or (kernel == "auto" and known)
        unknown = sorted(set(options) - {"gain", "cost_power", "stop"})
        if unknown:
            raise TypeError(
                f"diversify has no option {unknown[0]!r}. Beside those of its signature, greedy choice takes gain, "
                "cost_power and stop."
            )
        choice = Choice(limits, least, linear, kernel == "near", settings.backfill, *check_rule(**options))
        chosen, candidates = choice.among(candidates)
    elif k == "auto" or kernel == "near" or settings.backfill:
        what = 'k="auto"' if k == "auto" else 'kernel="near"' if kernel == "near" else "backfill"
        raise ValueError(f'{what} is for decoder="greedy", found {decoder!r}.')
    else:
        chosen = run_decoder(decoder, candidates.beside(), limits, **options)
    parameters = {"scale": settings.scale, "decoder": decoder, "nugget": candidates.nugget}
    parameters["kernel"] = "near" if candidates.near else "linear"
    held: Embedded | Borrowed = embedded if owner is None else Borrowed(owner, embedded)
    log_prob: Any = chosen.log_prob_of if candidates.near else candidates.log_prob
    if isinstance(held, Borrowed) and not candidates.near:
        log_prob = BorrowedLogProb.of(candidates, held)
    plain = (chosen.subset, chosen.cost, chosen.gains, chosen.reason, log_prob)
    return DiverseSelection(*plain, settings.diversity, parameters, limits, held)


class Choice(NamedTuple):
    """A greedy choice within limits, which goes on where the directions of the embeddings end."""

    limits: Limits
    min_gain: float | None  # of the first, for k="auto"
    linear: bool  # stay with cosines, whatever k is
    near: bool  # near items from the start
    backfill: bool
    rule: str
    power: float | None
    stop: str | None

    def among(self, candidates: Candidates) -> tuple[Selection, Candidates]:
        """What was chosen, with the kernel that it was chosen by."""
        limits = self.limits
        reason = limits.empty_reason() if candidates.n else "no candidates"
        if reason:
            return Selection.nothing(reason, candidates.log_prob), candidates
        before = 0 if candidates.given is None else len(candidates.given.lengths)
        if self.near or (not self.linear and limits.most_items + before > candidates.directions):
            candidates = near_items(candidates)
        run = self.run(candidates, limits)
        if not self.linear and not self.near and run.end == End.RANK and not candidates.near:
            candidates = near_items(candidates)
            run = self.run(candidates, limits)
        reason = self.describe(candidates, run)
        owed = 0 if limits.quota is None else limits.quota.owed(run.items)
        if owed:  # past the rank, or below the least gain
            candidates = candidates if candidates.nugget else replace(candidates, nugget=NUGGET)
            fixed = replace(limits, include=run.items, k=run.items.size + owed)
            run = best_run(candidates, fixed, -np.inf, self.rule, self.power)
            reason += f"; then {owed} for min_per_group"
        if self.backfill and run.end == End.QUOTA:
            chosen = run.items.size
            run = self.run(candidates, replace(limits, include=run.items, quota=None))
            reason = f"{self.describe(candidates, run)}; the last {run.items.size - chosen} are beyond max_per_group"
        return as_selection(candidates, limits, run, reason), candidates

    def run(self, candidates: Candidates, limits: Limits) -> Run:
        only_gains = self.stop == "no-gain" or (self.stop is None and not limits.bounded)
        floor = 1.0 if only_gains else -np.inf
        if self.min_gain is not None:
            floor = self.min_gain * float(candidates.diag.max())
        return best_run(candidates, limits, floor, self.rule, self.power)

    def describe(self, candidates: Candidates, run: Run) -> str:
        """Why the run ended, with what k="auto" and near items add to it."""
        reason = describe(self.limits, run)
        if self.min_gain is not None and run.end == End.GAIN:
            reason = f"every other candidate would add less than {self.min_gain:g} of what the first added"
        elif self.min_gain is not None and run.end == End.EVERY:
            reason += f"; a larger min_gain than {self.min_gain:g} takes fewer"
        elif self.min_gain is not None and run.end in (End.ROOM, End.QUOTA):
            reason += f" and would add {self.min_gain:g} of what the first added"
        if candidates.near and not self.near:
            reason += f"; by near items, because the embeddings have {candidates.directions} directions"
        return reason


def near_items(candidates: Candidates) -> Candidates:
    """The same items under a kernel of near items."""
    return replace(candidates.on_host(), nugget=max(candidates.nugget, NEAR_NUGGET), near=True)
