"""Data larger than memory, in two rounds on Dask: candidates of each part where it lies, then one choice among them.

With random parts, each of which gives k candidates, the better of the final choice and the best part has in expectation
at least (1 - 1/e) / 2 of what any set of k items has (Barbosa et al., 2015), for functions that are monotone and
submodular; here log det L_Y - k log min_i(nugget q_i^2), whose steps are log gains above that of the smallest.
With fewer than k from each part, or parts that are not random, nothing is promised: measured, it loses far below 1 %.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_int, check_subset
from dpplearn._io.atomic import replace_file
from dpplearn._run.blas import one_thread
from dpplearn._run.progress import Progress
from dpplearn._run.workers import cluster_client
from dpplearn.decoding.candidates import SMALL_NUGGET, Embedded, Given, read_features, read_given, read_given_items
from dpplearn.decoding.diversify import Settings, check_settings, choose
from dpplearn.decoding.greedy import check_rule
from dpplearn.decoding.limits import Limits, check_limits
from dpplearn.decoding.registry import check_options
from dpplearn.decoding.scores import qualities, read_scores
from dpplearn.decoding.selection import DiverseSelection, Nearest, Unknown, nearest_chosen, read_held

SPARE = 4  # times as many candidates as the parts' share of k
FEWEST = 1000  # candidates of a part, unless k is less
UNKNOWN = Unknown(
    "log_prob of a choice in two rounds is not computed, because its normalizer is of all items. log det L_Y is "
    "gains.sum()."
)


class Part(NamedTuple):
    """Rows start ... stop-1 of the data, and how a worker gets them: by a call, or as a Delayed of Dask."""

    start: int
    stop: int
    load: Callable[..., Any] | None
    args: tuple[Any, ...]
    name: str = ""  # tells it from another part or another file, for going on

    def read(self) -> Any:
        """Its rows, in this process."""
        return self.args[0].compute() if self.load is None else self.load(*self.args)


class PartTask(NamedTuple):
    """What a worker is to choose from a part, whose items are numbered from 0."""

    q: FloatArray
    settings: Settings
    limits: Limits
    given: Given | None = None
    options: tuple[tuple[str, Any], ...] = ()  # of greedy choice
    whole: bool = False  # whether all of them are candidates


class Picked(NamedTuple):
    """The candidates of a part: their numbers in the whole, and their rows."""

    items: IntArray
    rows: np.ndarray


def read_array(path: str, start: int, stop: int) -> Any:
    """Some rows of an .npy file, copied, so that the file may go."""
    return np.load(path, mmap_mode="r", allow_pickle=False)[start:stop].copy()


def pick(load: Callable[..., Any] | None, args: tuple[Any, ...], start: int, task: PartTask) -> Picked:
    """The first round: candidates of the part that begins at `start`.

    The worker reads the part itself, so that no more than one is in its memory.
    """
    q, settings, limits, given, options, whole = task
    rows = args[0] if load is None else load(*args)
    with one_thread():  # workers share the machine's cores
        rows, lengths = read_features(rows, "embeddings", start)
        if len(lengths) != q.size:
            raise ValueError(
                f"embeddings must have one row for each score, but from row {start} on there are {len(lengths)} "
                f"rows for {q.size} scores. Were they changed meanwhile?"
            )
        if whole:
            return Picked(start + np.arange(q.size), rows)
        free = replace(limits, need=0 * limits.need)  # what groups must have is for the whole to say
        found = [choose(Embedded(rows, lengths, q), settings, free, given, **dict(options)).subset]
    for c in np.flatnonzero(limits.need):  # the final choice finds enough among the best and the cheapest
        inside = np.flatnonzero((limits.group == c) & limits.alive)
        for order in (-q[inside], limits.cost[inside]):
            found.append(inside[np.argsort(order, kind="stable")[: limits.need[c]]])
    chosen = np.unique(np.concatenate(found)).astype(np.int64)
    return Picked(start + chosen, np.ascontiguousarray(rows[chosen]))


def diversify_dask(
    embeddings: Any, scores: Any, settings: Settings, asked: dict[str, Any], given: Any, **call: Any
) -> DiverseSelection:
    """`diversify` of a Dask array; its options are those of `choose_in_parts`."""
    if embeddings.ndim != 2 or np.isnan(embeddings.shape[0]):
        raise ValueError(
            f"embeddings must be a Dask array of known shape, one row for each item, found {embeddings.shape}. "
            "After a filter, call compute_chunk_sizes()."
        )
    if sparse.issparse(embeddings._meta):
        raise TypeError(
            "embeddings must be a Dask array of dense blocks, found sparse ones. Pass embeddings.map_blocks("
            "lambda block: block.toarray(), dtype=float), or one sparse matrix without Dask."
        )
    if embeddings.numblocks[1] > 1:
        embeddings = embeddings.rechunk({1: -1})
    ends = np.cumsum([0, *embeddings.chunks[0]]).tolist()
    blocks = embeddings.to_delayed().ravel()
    parts = [Part(a, b, None, (block,)) for a, b, block in zip(ends, ends[1:], blocks, strict=False) if b > a]
    if hasattr(scores, "compute"):
        scores = scores.compute()
    if given is not None and (items := read_given_items(given, len(embeddings))) is not None:
        given = embeddings[items].compute()
        asked = asked | {"exclude": np.union1d(check_subset(asked["exclude"], len(embeddings), "exclude"), items)}
    if "work" in call:  # only a look at a block's rows would tell whether they are still the same
        raise TypeError("work= is for files (`dpplearn select --work`), which say when they were changed.")
    return choose_in_parts(parts, embeddings.shape[1], scores, settings, asked, given, **call)


def choose_in_parts(
    parts: Sequence[Part],
    d: int,
    scores: Any,
    settings: Settings,
    asked: dict[str, Any],
    given: Any = None,
    *,
    client: Any = None,
    n_jobs: int | None = None,
    per_part: int | None = None,
    work: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> DiverseSelection:
    """Choose from parts of rows of d numbers.

    Parameters
    ----------
    asked : dict
        The limits, as `check_limits` reads them.
    given : array, optional
        Rows of d numbers.
    client : distributed.Client, optional
        By default the current one; where there is none, a local cluster for as long as it takes.
    n_jobs : int, optional
        Workers of a local cluster, of one thread each; by default one for each core.
    per_part : int, optional
        Candidates that a part gives; k gives the guarantee. Default: 4 times the part's share of k, at least 1,000. A
        part of no more rows gives them all. Without k, a larger one gives what would be chosen of it alone.
    work : path, optional
        A folder where what each part gave is kept, so that a second run with the same data and arguments goes on.
    progress : Progress, optional
        Told after each part.
    **options
        Of greedy choice: gain, cost_power, stop.
    """
    settings = check_settings(settings)
    check_options("greedy", options, "client", "per_part", "progress")
    check_rule(**options)
    if settings.decoder != "greedy":
        raise ValueError(f'a Dask array needs decoder="greedy", found {settings.decoder!r}.')
    n = parts[-1].stop if parts else 0
    z = np.zeros(n) if scores is None else read_scores(scores, n, settings.diversity == 0.0)
    q = qualities(z, settings.scale, settings.diversity)
    limits = check_limits(n, **asked)
    if n == 0:
        return choose(Embedded(np.empty((0, max(d, 1))), q, q), settings, limits)
    known = None if given is None else read_given(given, np.empty((0, d)), np.empty(0))[0]
    spare = max(FEWEST, SPARE * -(-limits.k // len(parts)) if limits.sized else 0)
    spare = spare if per_part is None else check_int(per_part, "per_part", low=1)
    # which kernel, is for the whole to say: a part may have fewer items to choose, or more
    here, wide = settings._replace(kernel="near" if settings.is_near(limits, known, d) else "linear"), limits
    size = max(limits.include.size, spare)
    if limits.sized:
        here = here._replace(nugget=SMALL_NUGGET if settings.nugget is None else settings.nugget)  # past the rank, too
        times = -(-spare // max(limits.k, 1))
        wide = replace(limits, k=size, budget=times * limits.budget, most=times * np.minimum(limits.most, n))
    tasks = []
    for part in parts:
        some = np.arange(part.start, part.stop)
        inside = limits_of(wide, some)
        tasks.append(PartTask(q[some], here, inside, known, tuple(options.items()), some.size <= size))
    picked = first_round(parts, tasks, cluster_client(client, n_jobs), work, progress or Progress(False))
    items = np.concatenate([part.items for part in picked])
    rows = np.concatenate([part.rows for part in picked])
    embedded = Embedded(*read_features(rows), q[items])
    chosen = choose(embedded, settings, limits_of(limits, items), known, **options)
    parameters = chosen.parameters | {"parts": len(parts), "candidates": items.size}
    mine, reason = chosen.subset, chosen.reason
    if mine.size == items.size < n:
        reason = f"the parts gave no more candidates than these: {reason}"
    whole = (items[mine], chosen.cost, chosen.gains, reason, UNKNOWN, chosen.diversity, parameters, limits)
    return PartsSelection(*whole, embedded.part(mine), list(parts))


def limits_of(limits: Limits, items: IntArray) -> Limits:
    """The limits of some of the items, numbered from 0."""
    include, exclude = (np.flatnonzero(np.isin(items, some)) for some in (limits.include, limits.exclude))
    some: Any = {"cost": limits.cost[items], "group": limits.group[items], "include": include, "exclude": exclude}
    equal = bool((some["cost"] == some["cost"][:1]).all())
    return replace(limits, **some, k=min(limits.k, items.size), equal=equal)


def first_round(
    parts: Sequence[Part], tasks: list[PartTask], cluster: Any, work: str | Path | None, progress: Progress
) -> list[Picked]:
    """What every part gives, in their order. A task that is lost with its worker is done again, and no other."""
    files: list[Path | None] = [None] * len(parts)
    if work is not None:  # named by all that decides what a part gives
        keys = (joblib.hash((*part[:2], part.name, task)) for part, task in zip(parts, tasks, strict=True))
        files = [Path(work) / f"{key}.npz" for key in keys]
    picked: list[Any] = [None] * len(parts)
    for i, file in enumerate(files):
        if file is not None and file.exists():
            with np.load(file, allow_pickle=False) as arrays:
                picked[i] = Picked(arrays["items"], arrays["rows"])
    left = [i for i, one in enumerate(picked) if one is None]
    progress.stage("Candidates of parts", len(parts) - len(left), len(parts))
    if not left:
        return picked
    dask, dd = import_module("dask"), import_module("distributed")
    with cluster as client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        call = dask.delayed(pick, pure=False)
        asked = [call(parts[i].load, parts[i].args, parts[i].start, tasks[i]) for i in left]
        futures = client.compute(asked)
        place = {future.key: i for future, i in zip(futures, left, strict=True)}
        for done, future in enumerate(dd.as_completed(futures), len(parts) - len(left) + 1):
            i = place[future.key]
            picked[i] = future.result()
            future.release()
            if (file := files[i]) is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                with replace_file(file, "wb") as out:
                    np.savez(out, **picked[i]._asdict())
            progress.stage("Candidates of parts", done, len(parts))
    return picked


@dataclass(frozen=True, eq=False, repr=False)
class PartsSelection(DiverseSelection):
    """A choice in two rounds: the chosen items alone are held, and `nearest` reads the parts again."""

    parts: list[Part] = field(repr=False)

    def chosen_items(self) -> Embedded:
        """The embeddings of the chosen items, which are all that is held."""
        return read_held(self.held)

    @cached_property
    def nearest(self) -> Nearest:
        """The chosen item most similar to each candidate; one part after the other, in this process."""
        chosen = self.chosen_items()
        parts = (Embedded(*read_features(part.read(), "embeddings"), np.empty(0)) for part in self.parts)
        answers = [nearest_chosen(part, chosen, self.subset) for part in parts]
        return Nearest(*(np.concatenate(both) for both in zip(*answers, strict=True)))
