"""Data larger than memory, in two rounds on Dask: candidates of each part where it lies, then one choice among them.

With random parts, each of which gives k candidates, the better of the final choice and the best part has in expectation
at least (1 - 1/e) / 2 of what any set of k items has (Barbosa et al., 2015), for functions that are monotone and
submodular; here log det L_Y - k log min_i(nugget q_i^2), whose steps are log gains above that of the smallest.
With fewer than k from each part, or parts that are not random, nothing is promised: measured, it loses far below 1 %.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_int, count_of
from dpplearn._holders import as_numbers
from dpplearn._io.sealed import DamagedError, pack_arrays, read_sealed, unpack_arrays, write_sealed
from dpplearn._run.blas import blas_threads
from dpplearn._run.cluster import cluster_client
from dpplearn._run.progress import Progress
from dpplearn.decoding.asked import Asked, Each, choose, expected_size, qualities, share_of_similarity, with_nugget
from dpplearn.decoding.candidates import Candidates, Directed, as_unit, read_features
from dpplearn.decoding.embeddings import read_scores
from dpplearn.decoding.given import prior, read_earlier, read_given
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.nearby import find_bandwidth, sample
from dpplearn.decoding.selection import Unknown
from dpplearn.decoding.skipped import DiverseSelection, Kept, Nearest, nearest

SPARE = 4  # times as many candidates as the parts' share of k
FEWEST = 1000  # candidates of a part, unless k is less
COMPARED = 256  # rows of a part by which one that is kept is known to be of the same data
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
    name: str  # tells it from another part or another file, for resuming


class Found(NamedTuple):
    """The candidates of a part: their numbers in the whole, their rows, and a digest of some rows of the part."""

    items: IntArray
    rows: np.ndarray
    digest: str


class OnePart(NamedTuple):
    """What a worker is told of the items of its part."""

    start: int
    q: FloatArray
    asked: Asked
    each: Each
    given: Any


def read_array(path: str, start: int, stop: int) -> Any:
    """Some rows of an .npy file, copied, so that the file may go."""
    return np.load(path, mmap_mode="r", allow_pickle=False)[start:stop].copy()


def pick(rows: Any, told: OnePart) -> Found:
    """The first round: candidates of one part."""
    with blas_threads(0, one=True):  # workers share the machine's cores
        digest = digest_of(rows)  # of the data themselves: features may be copies with other lengths
        rows, lengths = read_features(rows, "embeddings", told.start)
        if len(lengths) != told.q.size:
            raise ValueError(
                f"embeddings must have one row for each score, but from row {told.start} on there are {len(lengths)} "
                f"rows for {told.q.size} scores. Were they changed meanwhile?"
            )
        local = local_limits(told)
        chosen = choose(Directed(rows, lengths, told.q), local, told.each, told.given).subset
        chosen = np.union1d(chosen, owed(told)).astype(np.int64)
    return Found(told.start + chosen, np.ascontiguousarray(rows[chosen]), digest)


def digest_of(rows: Any, _: Any = None) -> str:
    """Of some rows of a part, spread over it."""
    n = rows.shape[0]
    places = np.linspace(0, n - 1, min(n, COMPARED)).astype(np.int64)
    some = sparse.csr_array(rows)[places].toarray() if sparse.issparse(rows) else rows[places]
    return hashlib.sha256(repr(rows.shape).encode() + np.asarray(some, np.float64).tobytes()).hexdigest()


def sample_part(rows: Any, told: tuple[int, list[IntArray]]) -> list[np.ndarray]:
    """Unit rows of a part, for the bandwidth: two samples."""
    start, samples = told
    rows, lengths = read_features(rows, "embeddings", start)
    return [as_unit(rows[items], lengths[items]) for items in samples]


def on_rows(load: Callable[..., Any], args: tuple[Any, ...], call: Callable[..., Any], told: Any) -> Any:
    """A call on a part that the worker reads itself: no more than one is in its memory."""
    return call(load(*args), told)


def submit(client: Any, call: Callable[..., Any], parts: Sequence[Part], told: Sequence[Any]) -> list[Any]:
    """Futures of a call on the rows of each part, where they lie."""
    dask: Any = import_module("dask")
    first, later = dask.delayed(call, pure=False), dask.delayed(on_rows, pure=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        futures: list[Any] = client.compute(
            [
                later(part.load, part.args, call, one) if part.load else first(part.args[0], one)
                for part, one in zip(parts, told, strict=True)
            ]
        )
    return futures


def common_bandwidth(parts: Sequence[Part], n: int, k: int, cluster: Any) -> float:
    """The bandwidth that a sample of all parts says, read by tasks."""
    samples = sample(n)
    told = [(part.start, [x[(x >= part.start) & (x < part.stop)] - part.start for x in samples]) for part in parts]
    with cluster as client:
        found = client.gather(submit(client, sample_part, parts, told))
    some, others = (np.concatenate(one) for one in zip(*found, strict=True))
    return find_bandwidth(some, others, k)


def local_limits(told: OnePart) -> Asked:
    """Limits of groups that are in the part; how many must be chosen is for the whole to say."""
    most = told.asked.max_per_group
    if isinstance(most, Mapping):
        here = set(np.unique(told.each.groups).tolist())
        most = {name: bound for name, bound in most.items() if name in here}
    return told.asked._replace(min_per_group=None, max_per_group=most)


def owed(told: OnePart) -> IntArray:
    """The best items of each group that must have some, so that the final choice finds enough."""
    need, groups = told.asked.min_per_group, told.each.groups
    if need is None or groups is None:
        return np.empty(0, np.int64)
    free = np.ones(told.q.size, np.bool_)
    free[np.asarray(told.each.exclude, np.int64)] = False
    found = []
    for name in np.unique(groups).tolist():
        inside = np.flatnonzero((np.asarray(groups) == name) & free)
        most = need.get(name, 0) if isinstance(need, Mapping) else need
        found.append(inside[np.argsort(-told.q[inside], kind="stable")[:most]])
    return np.concatenate(found)


def diversify_dask(embeddings: Any, scores: Any, asked: Asked, each: Each, given: Any) -> DiverseSelection:
    """`diversify` of a Dask array; its options are those of `in_rounds`."""
    if embeddings.ndim != 2 or np.isnan(embeddings.shape[0]):
        raise ValueError(
            f"embeddings must be a Dask array of known shape, one row for each item, found {embeddings.shape}. "
            "After a filter, call compute_chunk_sizes()."
        )
    if embeddings.numblocks[1] > 1:
        embeddings = embeddings.rechunk({1: -1})
    ends = np.cumsum([0, *embeddings.chunks[0]]).tolist()
    blocks = embeddings.to_delayed().ravel()
    parts = [
        Part(a, b, None, (block,), f"{embeddings.name}-{i}")
        for i, (a, b, block) in enumerate(zip(ends, ends[1:], blocks, strict=False))
        if b > a
    ]
    if hasattr(scores, "compute"):
        scores = scores.compute()
    mine = {name: x for name, x in asked.options.items() if name == "index"}
    options = {name: x for name, x in asked.options.items() if name not in mine}
    return in_rounds(parts, embeddings.shape[1], scores, asked._replace(options=mine), each, given, **options)


def in_rounds(
    parts: Sequence[Part],
    d: int,
    scores: Any,
    asked: Asked,
    each: Each,
    given: Any = None,
    *,
    client: Any = None,
    n_jobs: int | None = None,
    per_part: int | None = None,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> DiverseSelection:
    """Choose from parts of rows of d numbers.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the current one; where there is none, a local cluster for as long as it takes.
    n_jobs : int, optional
        Workers of a local cluster.
    per_part : int, optional
        Candidates that a part gives; k gives the guarantee. Default: 4 times the part's share of k, at least 1,000.
    resume : path, optional
        A folder where what each part gave is kept, so that a second run with the same data and arguments goes on.
    progress : Progress, optional
        Told after each part.
    """
    if asked.method != "greedy":
        raise ValueError(f'a Dask array needs method="greedy", found {asked.method!r}.')
    n = parts[-1].stop if parts else 0
    q = qualities(read_scores(scores, n), asked)
    limits = check_limits(n, each.cost, asked.budget, asked.size, each.include, each.exclude)
    if n == 0:
        return choose(Directed(np.empty((0, max(d, 1))), q, q), asked, each)
    size = asked.size if asked.size is None else min(asked.size, n)
    if size is not None:
        share = SPARE * -(-size // len(parts))
        size = min(size, max(FEWEST, share) if per_part is None else check_int(per_part, "per_part", low=1))
        size = max(size, limits.include.size)
    if given is not None:
        given = one_prior(given, d, asked)
    if asked.kernel != "linear" and asked.bandwidth is None:
        many = expected_size(asked, limits)
        asked = asked._replace(bandwidth=common_bandwidth(parts, n, many, cluster_client(client, n_jobs)))
    groups = None if each.groups is None else np.asarray(each.groups)
    whole = Each(limits.cost, limits.include, limits.exclude, groups)
    tasks = [
        OnePart(part.start, q[part.start : part.stop], asked._replace(k="auto" if asked.auto else size), one, given)
        for part in parts
        for one in [cut(whole, part)]
    ]
    found = first_round(parts, tasks, cluster_client(client, n_jobs), resume, progress or Progress(False))
    items = np.concatenate([one.items for one in found])
    missing = np.setdiff1d(limits.include, items)
    if missing.size:
        raise RuntimeError(f"Item {missing[0]} is to be included, but its part did not give it. Empty {resume}.")
    rows = np.concatenate([one.rows for one in found])
    among = Directed(*read_features(rows), q[items])
    chosen = choose(among, asked, cut(whole, items), given)
    parameters = chosen.parameters | {"parts": len(parts), "candidates": items.size}
    mine, reason = chosen.subset, chosen.reason
    if mine.size == limits.k < n:  # of the candidates none may be left, but of the items
        reason = f"the size limit of {count_of(limits.k, 'item', 'items')} is reached"
    return RoundsSelection(
        items[mine],
        chosen.cost,
        chosen.gains,
        reason,
        UNKNOWN,
        chosen.diversity,
        parameters,
        limits,
        Directed(rows[mine], among.lengths[mine], among.q[mine]),
        list(parts),
    )


def cut(each: Each, which: Part | IntArray) -> Each:
    """What is asked of the items of a part, or of some items, numbered as they are there."""
    if isinstance(which, Part):
        place: Any = slice(which.start, which.stop)
        include, exclude = (
            a[(a >= which.start) & (a < which.stop)] - which.start for a in (each.include, each.exclude)
        )
    else:
        place, order = which, np.argsort(which, kind="stable")
        include, exclude = (
            order[np.searchsorted(which, a[np.isin(a, which)], sorter=order)] for a in (each.include, each.exclude)
        )
    return Each(each.cost[place], include, exclude, None if each.groups is None else each.groups[place])


def one_prior(given: Any, d: int, asked: Asked) -> Any:
    """The directions of items chosen earlier, made once for all parts."""
    shape = given.shape if sparse.issparse(given) else as_numbers(given, "given").shape
    if len(shape) != 2:
        raise ValueError(f"given must be rows of {d} numbers where embeddings are in parts, found shape {shape}.")
    one = Candidates(Directed(np.empty((0, d)), np.empty(0), np.empty(0)), min(asked.diversity, 0.5))
    if asked.kernel != "linear":
        return read_earlier(given, one.directed)[0]
    one = with_nugget(one) if asked.nugget is None else replace(one, nugget=asked.nugget)
    rows, lengths, _ = read_given(given, one.directed)
    return prior(rows, lengths, share_of_similarity(one))


def first_round(
    parts: Sequence[Part], tasks: list[OnePart], cluster: Any, resume: str | Path | None, progress: Progress
) -> list[Found]:
    """What every part gives, in their order. A task that is lost with its worker is done again, and no other."""
    found: dict[int, Found] = {}
    files = [None if resume is None else Path(resume) / f"{key(*one)}.npz" for one in zip(parts, tasks, strict=True)]
    for i, file in enumerate(files):
        if file is not None and file.exists():
            try:
                kept = unpack_arrays(read_sealed(file))
            except DamagedError:
                warnings.warn(f"{file} is damaged: candidates of its part are chosen again.", stacklevel=4)
            else:
                found[i] = Found(kept["items"], kept["rows"], str(kept["digest"]))
    named = [i for i in found if parts[i].load is None]  # Dask's name of files is the same when they are changed
    if named or len(found) < len(parts):
        dd: Any = import_module("distributed")
        with cluster as client:
            now = client.gather(submit(client, digest_of, [parts[i] for i in named], [None] * len(named)))
            for i, digest in zip(named, now, strict=True):
                if digest != found[i].digest:
                    del found[i]
            progress.stage("Candidates of parts", len(found), len(parts))
            left = [i for i in range(len(parts)) if i not in found]
            futures = submit(client, pick, [parts[i] for i in left], [tasks[i] for i in left])
            place = {future.key: i for future, i in zip(futures, left, strict=True)}
            for future in dd.as_completed(futures):
                i = place[future.key]
                found[i] = future.result()
                future.release()
                file = files[i]
                if file is not None:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    write_sealed(file, pack_arrays(found[i]._asdict()))
                progress.stage("Candidates of parts", len(found), len(parts))
    else:
        progress.stage("Candidates of parts", len(found), len(parts))
    return [found[i] for i in range(len(parts))]


def key(part: Part, told: OnePart) -> str:
    """The same for the same part, qualities and wishes in the same version of dpplearn, and for no others."""
    from dpplearn import __version__

    digest = hashlib.sha256(repr((__version__, part.start, part.stop, part.name, told.asked)).encode())
    given = () if told.given is None else zip(told.given._fields, told.given, strict=True)
    for name, value in (("q", told.q), *told.each._asdict().items(), *given):
        array = np.ascontiguousarray(value)  # None is one of objects
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes())
    return digest.hexdigest()[:32]


@dataclass(frozen=True, eq=False, repr=False)
class RoundsSelection(DiverseSelection):
    """A choice in two rounds: `candidates` are the chosen items alone, and `nearest` reads the parts again."""

    parts: list[Part] = field(repr=False)

    @cached_property
    def nearest(self) -> Nearest:
        """The chosen item most similar to each candidate; one part after the other, in this process."""
        answers = []
        for part in self.parts:
            rows = part.args[0].compute() if part.load is None else part.load(*part.args)
            answers.append(self.cover(rows))
        return Nearest(*(np.concatenate(both) for both in zip(*answers, strict=True)))

    def cover(self, rows: Any) -> Nearest:
        """For each of some rows the chosen item most similar to it."""
        assert self.candidates is not None
        rows, lengths = read_features(rows, "embeddings")
        chosen, more = self.candidates, len(self)
        stacked = Directed(
            np.concatenate([chosen.rows, rows]), np.append(chosen.lengths, lengths), np.ones(more + lengths.size)
        )
        places, similarity = nearest(stacked, np.arange(more))
        return Nearest(self.subset[places[more:]] if more else places[more:], similarity[more:])

    @cached_property
    def kept(self) -> list[Kept]:
        """Every chosen item, with the other chosen one most similar to it."""
        assert self.candidates is not None
        places, similarity = nearest(self.candidates, np.arange(len(self)), themselves=True)
        items = np.where(places < 0, -1, self.subset[places]).tolist()
        return [Kept(*one) for one in zip(self.subset.tolist(), items, similarity.tolist(), strict=True)]
