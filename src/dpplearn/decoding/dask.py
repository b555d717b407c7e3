"""`diversify` for data larger than memory, with Dask: a choice among candidates from each part.

If the parts are random and each gives k candidates, the better of the final choice and the best part has in expectation
at least (1 - 1/e) / 2 of the value of any set of k items (Barbosa et al., 2015), for a function that is monotone and
submodular: here log det L_Y - k log min_i(nugget q_i^2). Fewer candidates or parts that are not random have no such
guarantee, but in our measurements they lose far less than 1 %.
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
from dpplearn._checks import FloatArray, IntArray, check_disjoint, check_int, check_subset
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

CANDIDATES_PER_CHOICE = 4  # candidates of a part, as a multiple of its share of k
FEWEST_CANDIDATES = 1000  # least number of candidates of a part that has them
PARTS_UNKNOWN = Unknown("log_prob of a choice in parts is not computed: it needs all items. log det L_Y: gains.sum().")


class Part(NamedTuple):
    """Rows start ... stop-1 of the data. A worker gets them by the call load(*args), or as a Delayed in args."""

    start: int
    stop: int
    load: Callable[..., Any] | None
    args: tuple[Any, ...]
    name: str = ""  # with `work`, distinguishes this part from those of other files

    def read(self) -> Any:
        """Read the rows in this process."""
        return self.args[0].compute() if self.load is None else self.load(*self.args)


class PartTask(NamedTuple):
    """How a worker chooses candidates from a part, whose items are numbered from 0."""

    q: FloatArray
    settings: Settings
    limits: Limits
    given: Given | None = None
    options: tuple[tuple[str, Any], ...] = ()  # of greedy choice
    whole: bool = False  # whether all items are candidates


class PartCandidates(NamedTuple):
    """The candidates of a part: their numbers in the whole data, and their rows."""

    items: IntArray
    rows: np.ndarray


def read_array(path: str, start: int, stop: int) -> Any:
    """Some rows of an .npy file, copied, so that the file may be removed."""
    return np.load(path, mmap_mode="r", allow_pickle=False)[start:stop].copy()


def pick(load: Callable[..., Any] | None, args: tuple[Any, ...], start: int, task: PartTask) -> PartCandidates:
    """Choose candidates from the part that begins at `start`. The worker reads it, so it holds one part at a time."""
    q, settings, limits, given, options, whole = task
    rows = args[0] if load is None else load(*args)
    with one_thread():  # workers share the machine's cores
        rows, lengths = read_features(rows, "embeddings", start)
        if len(lengths) != q.size:
            found = f"{len(lengths)} rows for {q.size} scores from row {start} on. Were they changed meanwhile?"
            raise ValueError(f"embeddings must have one row for each score, found {found}")
        if whole:
            return PartCandidates(start + np.arange(q.size), rows)
        free = replace(limits, need=0 * limits.need)  # min_per_group is for all parts together
        sets = [choose(Embedded(rows, lengths, q), settings, free, given, **dict(options)).subset]
    for c in np.flatnonzero(limits.need):  # so that the final choice can meet min_per_group: the best and the cheapest
        inside = np.flatnonzero((limits.group == c) & limits.alive)
        for order in (-q[inside], limits.cost[inside]):
            sets.append(inside[np.argsort(order, kind="stable")[: limits.need[c]]])
    chosen = np.unique(np.concatenate(sets)).astype(np.int64)
    return PartCandidates(start + chosen, np.ascontiguousarray(rows[chosen]))


def diversify_dask(
    embeddings: Any, scores: Any, settings: Settings, limited_by: dict[str, Any], given: Any, **options: Any
) -> DiverseSelection:
    """`diversify` of a Dask array; its options are those of `choose_in_parts`."""
    if embeddings.ndim != 2 or np.isnan(embeddings.shape[0]):
        advice = "After a filter, call compute_chunk_sizes()."
        raise ValueError(f"embeddings must be a Dask array of rows, of known shape, found {embeddings.shape}. {advice}")
    if sparse.issparse(embeddings._meta):
        advice = "Pass embeddings.map_blocks(lambda block: block.toarray(), dtype=float)."
        raise TypeError(f"embeddings must be a Dask array of dense blocks, found sparse ones. {advice}")
    if embeddings.numblocks[1] > 1:
        embeddings = embeddings.rechunk({1: -1})
    ends = np.cumsum([0, *embeddings.chunks[0]]).tolist()
    blocks = embeddings.to_delayed().ravel()
    parts = [Part(a, b, None, (block,)) for a, b, block in zip(ends, ends[1:], blocks, strict=False) if b > a]
    if hasattr(scores, "compute"):
        scores = scores.compute()
    if given is not None and (items := read_given_items(given, len(embeddings))) is not None:
        given = embeddings[items].compute()
        check_disjoint(limited_by["include"], items, len(embeddings), "given")
        exclude = check_subset(limited_by["exclude"], len(embeddings), "exclude")
        limited_by = limited_by | {"exclude": np.union1d(exclude, items)}
    if "work" in options:  # to know whether a block is still the same we would have to read it
        raise TypeError("work= is for files (`dpplearn select --work`), which have a time of change.")
    return choose_in_parts(parts, embeddings.shape[1], scores, settings, limited_by, given, **options)


def choose_in_parts(
    parts: Sequence[Part],
    d: int,
    scores: Any,
    settings: Settings,
    limited_by: dict[str, Any],
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
    limited_by : dict
        The limits, as `check_limits` reads them.
    given : array, optional
        Rows of d numbers.
    client : distributed.Client, optional
        By default the current one; if there is none, a local cluster for this call.
    n_jobs : int, optional
        Workers of a local cluster, of one thread each; by default one for each core.
    per_part : int, optional
        Candidates of each part; k gives the guarantee. Default: 4 times the part's share of k, at least 1,000. A part
        with no more rows gives all of them. Without k, a larger part gives the items that it would give alone.
    work : path, optional
        A folder for the candidates of each part, so that a second run with the same data and arguments continues.
    progress : Progress, optional
        Shows how many parts are done.
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
    limits = check_limits(n, **limited_by)
    if n == 0:
        return choose(Embedded(np.empty((0, max(d, 1))), q, q), settings, limits)
    before = None if given is None else read_given(given, np.empty((0, d)), np.empty(0))[0]
    spare = max(FEWEST_CANDIDATES, CANDIDATES_PER_CHOICE * -(-limits.k // len(parts)) if limits.sized else 0)
    spare = spare if per_part is None else check_int(per_part, "per_part", low=1)
    size, part_limits = max(limits.include.size, spare), limits
    # k is for all parts together, and so is the choice of the kernel
    part_settings = settings._replace(kernel="near" if settings.is_near(limits, before, d) else "linear")
    if limits.sized:  # with a nugget, a part can give more candidates than its rank
        part_settings = part_settings._replace(nugget=SMALL_NUGGET if settings.nugget is None else settings.nugget)
        times = -(-spare // max(limits.k, 1))
        part_limits = replace(limits, k=size, budget=times * limits.budget, most=times * np.minimum(limits.most, n))
    tasks = []
    for part in parts:
        items = np.arange(part.start, part.stop)
        more = limits_of(part_limits, items), before, tuple(options.items()), items.size <= size
        tasks.append(PartTask(q[items], part_settings, *more))
    picked = first_round(parts, tasks, cluster_client(client, n_jobs), work, progress or Progress(False))
    items = np.concatenate([part.items for part in picked])
    rows = np.concatenate([part.rows for part in picked])
    embedded = Embedded(*read_features(rows), q[items])
    chosen = choose(embedded, settings, limits_of(limits, items), before, **options)
    parameters = chosen.parameters | {"parts": len(parts), "candidates": items.size}
    every = len(chosen) == items.size < n
    reason = f"the parts gave no more candidates than these: {chosen.reason}" if every else chosen.reason
    whole = items[chosen.subset], chosen.cost, chosen.gains, reason, PARTS_UNKNOWN, chosen.diversity, parameters, limits
    return PartsSelection(*whole, embedded.part(chosen.subset), list(parts))


def limits_of(limits: Limits, items: IntArray) -> Limits:
    """The limits of some of the items, numbered from 0."""
    include, exclude = (np.flatnonzero(np.isin(items, listed)) for listed in (limits.include, limits.exclude))
    cost, k = limits.cost[items], min(limits.k, items.size)
    part: Any = {"cost": cost, "equal_costs": bool((cost == cost[:1]).all()), "k": k, "group": limits.group[items]}
    return replace(limits, **part, include=include, exclude=exclude)


def first_round(
    parts: Sequence[Part], tasks: list[PartTask], cluster: Any, work: str | Path | None, progress: Progress
) -> list[PartCandidates]:
    """The candidates of every part, in order. If a worker is lost, only its task is done again."""
    files: list[Path | None] = [None] * len(parts)
    if work is not None:  # a file's name is the hash of everything that decides its candidates
        keys = (joblib.hash((*part[:2], part.name, task)) for part, task in zip(parts, tasks, strict=True))
        files = [Path(work) / f"{key}.npz" for key in keys]
    picked: list[Any] = [None] * len(parts)
    for i, file in enumerate(files):
        if file is not None and file.exists():
            with np.load(file, allow_pickle=False) as arrays:
                picked[i] = PartCandidates(arrays["items"], arrays["rows"])
    left = [i for i, candidates in enumerate(picked) if candidates is None]
    progress.stage("Candidates of parts", len(parts) - len(left), len(parts))
    if not left:
        return picked
    dask, dd = import_module("dask"), import_module("distributed")
    with cluster as client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        call = dask.delayed(pick, pure=False)
        calls = [call(parts[i].load, parts[i].args, parts[i].start, tasks[i]) for i in left]
        futures = client.compute(calls)
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
    """A choice from parts. It holds only the rows of the chosen items; `nearest` reads the parts again."""

    parts: list[Part] = field(repr=False)

    def chosen_items(self) -> Embedded:
        """The embeddings of the chosen items."""
        return read_held(self.held)

    @cached_property
    def nearest(self) -> Nearest:
        """The chosen item most similar to each candidate, computed part by part in this process."""
        chosen = self.chosen_items()
        parts = (Embedded(*read_features(part.read(), "embeddings"), np.empty(0)) for part in self.parts)
        answers = [nearest_chosen(part, chosen, self.subset) for part in parts]
        return Nearest(*(np.concatenate(both) for both in zip(*answers, strict=True)))
