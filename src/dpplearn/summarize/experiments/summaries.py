"""Summaries of a corpus by every system, piece by piece, where it lies; what a folder of results has is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import Workers
from dpplearn.summarize.corpora.pieces import Piece
from dpplearn.summarize.experiments.results_folder import ResultsFolder
from dpplearn.summarize.experiments.systems import SYSTEMS, Models, summary_of
from dpplearn.summarize.experiments.tested import Tested
from dpplearn.summarize.text.units import Unit

Asked = dict[int, tuple[str, list[str]]]  # the id of a cluster and the systems that are to summarize it, by its place
_trained: dict[str, Any] = {}  # the models that this process used last, by the recipe they came from


class Work(NamedTuple):
    """Pieces to be summarized by the models that `key` names."""

    key: str
    pieces: list[tuple[Piece, Asked]]


class CommonWork(NamedTuple):
    """What all work has in common: models by name, or how to train them, and the length of the summaries."""

    models: Mapping[str, Models | Callable[[], Models]]
    budget: float
    unit: Unit


class MadeSummaries(NamedTuple):
    """Summaries by cluster and system, and the seconds that each system took."""

    summaries: dict[str, dict[str, str]]
    seconds: Counter[str]


def summarize_pieces(work: Work, given: CommonWork) -> MadeSummaries:
    """Models that are still a recipe are trained here first."""
    models, found = models_of(work.key, given), MadeSummaries({}, Counter())
    for piece, asked in work.pieces:
        for place, cluster in enumerate(piece.clusters()):
            if place in asked:
                name, systems = asked[place]
                read = models.summarizer.features_.read(cluster)
                mine = found.summaries[name] = dict[str, str]()
                for system in systems:
                    start = perf_counter()
                    mine[system] = summary_of(system, models, read, given.budget, given.unit)
                    found.seconds[system] += perf_counter() - start  # type: ignore[assignment]  # Counter adds any
    return found


def models_of(key: str, given: CommonWork) -> Models:
    """The models, trained if need be; the last ones are kept."""
    recipe = given.models[key]
    if not callable(recipe):
        return recipe
    if _trained.get("recipe") is not recipe:
        _trained.update(recipe=recipe, models=recipe())
    return _trained["models"]


class Task(NamedTuple):
    """Clusters to be summarized by the models that `key` names, under some systems."""

    key: str
    clusters: Tested
    systems: Sequence[str]


def make_summaries(
    models: Mapping[str, Models | Callable[[], Models]],
    tasks: Sequence[Task],
    budget: float,
    unit: Unit,
    folder: ResultsFolder,
    workers: Workers,
    *,
    progress: bool | Progress = False,
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster; those that the folder has already are not made again.

    Models given as a function are trained where they are used, when they are.
    """
    total = sum(len(task.clusters.clusters) for task in tasks)
    show, done = as_progress(progress), 0

    def left() -> Iterator[Work]:
        nonlocal done
        for key, clusters, systems in tasks:
            some: list[tuple[Piece, Asked]] = []
            for piece, known in clusters.pieces():
                asked = {
                    place: (one.id, names)
                    for place, one in enumerate(known)
                    if (names := [s for s in systems if (one.id, s) not in folder.done])
                }
                done += len(known) - len(asked)
                some += [(piece, asked)] if asked else []
                if some and not callable(models[key]):
                    yield Work(key, some)
                    some = []
            if some:  # together: their models are trained once
                yield Work(key, some)

    show.stage("Summarizing", done, total)
    try:
        for _, found in workers.each(summarize_pieces, left(), CommonWork(models, budget, unit)):
            for name, summaries in found.summaries.items():
                folder.add(name, summaries)
            for system, seconds in found.seconds.items():
                show.took(system, seconds)
            done += len(found.summaries)
            show.stage("Summarizing", done, total)
    except OSError as error:
        kept = "" if folder.path is None else f" {folder.path} keeps what is done: run the same command again to go on."
        raise type(error)(f"{error}{kept}") from None
    return {
        system: {
            one.id: folder.done[one.id, system]
            for task in tasks
            if system in task.systems
            for one in task.clusters.clusters
        }
        for system in SYSTEMS
        if any(system in task.systems for task in tasks)
    }
