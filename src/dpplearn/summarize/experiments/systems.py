"""Systems by name: the learned DPP under its decoders, with shorter sentences, the baselines, the oracle.

`make_summaries` has them summarize a corpus; what a folder of results has already is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import Workers
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments import baselines
from dpplearn.summarize.experiments.baselines import Logistic
from dpplearn.summarize.experiments.results_folder import ResultsFolder
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import Unit, cut

# In the order of Table 2.
SYSTEM_TITLES = {
    "begin": "Begin",
    "random": "Random",
    "lexrank": "LexRank",
    "lr-mmr": "LR+MMR",
    "lr-dpp": "LR+DPP",
    "submod": "SubMod",
    "dpp-sample": "DPP",
    "dpp-typical": "DPP (typical)",
    "dpp-greedy": "DPP (greedy)",
    "dpp-consensus": "DPP (consensus)",
    "dpp-compressed": "DPP (compressed)",
    "oracle": "Oracle",
}
SYSTEMS = tuple(SYSTEM_TITLES)
DECODER_OF = {
    "dpp-sample": "sampled",
    "dpp-typical": "typical",
    "dpp-greedy": "greedy",
    "dpp-consensus": "consensus",
    "dpp-compressed": "consensus",
}
COMPRESSED = "dpp-compressed"  # with shorter forms of sentences
PAPER_SYSTEMS = ("dpp-sample", "dpp-typical", "dpp-greedy")  # which learn from one extract for all references
LEARNED = ("lr-mmr", "lr-dpp")
OVERRUN = 15.0  # bytes that sampled, typical and consensus summaries may run over, trimmed by the scorer (section 7.3)


class Models(NamedTuple):
    """What the systems have learned: a summarizer and, where it is asked for, the regression of lr-mmr and lr-dpp.

    With `compress` every system that is a DPP chooses among shorter forms of sentences, too.
    """

    summarizer: Summarizer
    logistic: Logistic | None = None
    compress: bool = False

    def regression(self, system: str) -> Logistic:
        """The logistic regression, which a system needs."""
        if self.logistic is None:
            raise ValueError(
                f"There are no weights for {system}: model files hold those of the summarizer alone. Learn them from "
                "a corpus (train=CORPUS), or leave lr-mmr and lr-dpp out of the systems."
            )
        return self.logistic


def check_systems(names: Iterable[str]) -> list[str]:
    """Known names, each once, in the order given; with none given, all of them.

    Examples
    --------
    >>> check_systems(["DPP-greedy", "begin", "begin"])
    ['dpp-greedy', 'begin']
    """
    found = list(dict.fromkeys(name.strip().lower() for name in names if name.strip()))
    unknown = [name for name in found if name not in SYSTEMS]
    if unknown:
        raise ValueError(f"No system is called {unknown[0]!r}. There are {', '.join(SYSTEMS)}.")
    return found or list(SYSTEMS)


def summary_of(system: str, models: Models, read: Featurized, budget: float, unit: Unit) -> str:
    """One system's summary of a cluster, one sentence per line; empty where it can choose no sentence.

    The oracle sees the references. Sampled, typical and consensus summaries may be 15 bytes over a budget of bytes. All
    systems fill the budget, as the paper defines them, so that tables compare equal lengths; `summarize` need not.
    """
    summarizer, asked = models.summarizer, (read, budget, unit)
    if system in DECODER_OF:
        overrun = OVERRUN if unit == "bytes" else 0.0
        options: dict[str, Any] = {"overrun": overrun, "fill": True}
        options["compress"] = models.compress or system == COMPRESSED
        return Summary.of(summarizer._decision(*asked, DECODER_OF[system], **options)).text
    if system == "begin":
        return baselines.begin(*asked)
    items = {
        "random": lambda: baselines.random_items(*asked, summarizer.random_state),
        "lexrank": lambda: baselines.lexrank_items(*asked),
        "submod": lambda: baselines.submod_items(*asked),
        "oracle": lambda: summarizer.oracle_items(*asked),
        "lr-mmr": lambda: models.regression(system).mmr(*asked),
        "lr-dpp": lambda: models.regression(system).dpp(read, summarizer.rho_, budget, unit),
    }[system]()
    if not items.size and system != "oracle":  # no sentence fits: the first one cut, as `Summarizer` cuts its best
        return cut(read.texts[0], budget, unit)
    return "\n".join(read.texts[i] for i in items)


class Task(NamedTuple):
    """Clusters to be summarized under some systems by models, or by those that a function trains."""

    models: Models | Callable[[], Models]
    clusters: list[Cluster]
    systems: Sequence[str]


class Work(NamedTuple):
    """What one worker does at a time: clusters, each with its systems, and the number of the task that they are of."""

    task: int
    clusters: list[tuple[Cluster, list[str]]]


class CommonWork(NamedTuple):
    """What all work has in common."""

    models: list[Models | Callable[[], Models]]  # by the numbers of the tasks
    budget: float
    unit: Unit


class MadeSummaries(NamedTuple):
    """Summaries by cluster and system, and the seconds that each system took."""

    summaries: dict[str, dict[str, str]]
    seconds: Counter[str]


def summarize_some(work: Work, given: CommonWork) -> MadeSummaries:
    """Models that are still to be trained are trained here first."""
    models, found = given.models[work.task], MadeSummaries({}, Counter())
    models = models() if callable(models) else models
    for cluster, systems in work.clusters:
        read = models.summarizer.features_.read(cluster)
        mine = found.summaries[str(cluster.id)] = dict[str, str]()
        for system in systems:
            start = perf_counter()
            mine[system] = summary_of(system, models, read, given.budget, given.unit)
            found.seconds[system] += perf_counter() - start  # type: ignore[assignment]  # Counter adds any
    return found


def make_summaries(
    tasks: Sequence[Task],
    budget: float,
    unit: Unit,
    folder: ResultsFolder,
    workers: Workers,
    *,
    progress: bool | Progress = False,
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster; those that the folder has already are not made again."""
    total, show, work = sum(len(task.clusters) for task in tasks), as_progress(progress), list[Work]()
    for number, (models, clusters, systems) in enumerate(tasks):
        asked = [(one, [name for name in systems if (str(one.id), name) not in folder.done]) for one in clusters]
        some = [(one, names) for one, names in asked if names]
        # those of one model that is still to be trained stay together: it is trained once
        work += [Work(number, some)] * bool(some) if callable(models) else [Work(number, [one]) for one in some]
    done = total - sum(len(one.clusters) for one in work)
    show.stage("Summarizing", done, total)
    common = CommonWork([task.models for task in tasks], budget, unit)
    try:
        for _, found in workers.each(summarize_some, work, common):
            for name, summaries in found.summaries.items():
                folder.add(name, summaries)
            for system, seconds in found.seconds.items():
                show.took(system, seconds)
            done += len(found.summaries)
            show.stage("Summarizing", done, total)
    except OSError as error:
        kept = "" if folder.path is None else f" {folder.path} keeps what is done: run the same command again to go on."
        raise type(error)(f"{error}{kept}") from None
    made = {system: dict[str, str]() for system in SYSTEMS if any(system in task.systems for task in tasks)}
    for task in tasks:
        for system in task.systems:
            made[system] |= {str(one.id): folder.done[str(one.id), system] for one in task.clusters}
    return made
