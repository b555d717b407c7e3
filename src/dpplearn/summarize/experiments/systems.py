"""Systems by name: the learned DPP under its decoders, with shorter sentences, the baselines, the oracle.

`make_summaries` has them summarize a corpus; what a work folder has already is not made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from dpplearn._io.jsonfile import read_record, write_record
from dpplearn._io.workfolder import WorkFolder
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import Workers
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments import baselines
from dpplearn.summarize.experiments.baselines import Logistic
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


class SystemModels(NamedTuple):
    """What the systems have learned: a summarizer and, where it is asked for, the regression of lr-mmr and lr-dpp."""

    summarizer: Summarizer
    logistic: Logistic | None = None

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


def summary_of(system: str, models: SystemModels, read: Featurized, budget: float, unit: Unit) -> str:
    """One system's summary of a cluster, one sentence per line; empty where it can choose no sentence.

    The oracle sees the references. Sampled, typical and consensus summaries may be 15 bytes over a budget of bytes. All
    systems fill the budget, as the paper defines them, so that tables compare equal lengths; `summarize` need not.
    """
    summarizer, asked = models.summarizer, (read, budget, unit)
    if system in DECODER_OF:
        overrun = OVERRUN if unit == "bytes" else 0.0
        options: dict[str, Any] = {"overrun": overrun, "fill": True, "compress": system == COMPRESSED}
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

    models: SystemModels | Callable[[], SystemModels]
    clusters: list[Cluster]
    systems: Sequence[str]


class Work(NamedTuple):
    """What one worker does at a time: clusters, each with the file that its summaries go to, by a task's models."""

    task: int
    clusters: list[tuple[Cluster, Path]]


class CommonWork(NamedTuple):
    """What all work has in common."""

    tasks: list[tuple[SystemModels | Callable[[], SystemModels], Sequence[str]]]  # models and systems
    budget: float
    unit: Unit


def summarize_some(work: Work, given: CommonWork) -> Counter[str]:
    """The seconds that each system took; models that are still to be trained are trained here first."""
    models, systems = given.tasks[work.task]
    models, seconds = models() if callable(models) else models, Counter[str]()
    for cluster, file in work.clusters:
        read, made = models.summarizer.features_.read(cluster), dict[str, str]()
        for system in systems:
            start = perf_counter()
            made[system] = summary_of(system, models, read, given.budget, given.unit)
            seconds[system] += perf_counter() - start  # type: ignore[assignment]  # Counter adds any
        write_record(file, made)
    return seconds


def make_summaries(
    tasks: Sequence[Task],
    budget: float,
    unit: Unit,
    folder: WorkFolder,
    workers: Workers,
    *,
    progress: bool | Progress = False,
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster; those that the folder has already are not made again."""
    show, work, files = as_progress(progress), list[Work](), list[list[tuple[Cluster, Path]]]()
    for number, task in enumerate(tasks):
        files.append([(one, folder.file(f"summaries-{number}", k, ".json")) for k, one in enumerate(task.clusters)])
        some = [(one, file) for one, file in files[-1] if not file.exists()]
        # those of one model that is still to be trained stay together: it is trained once
        together = [some] if some and callable(task.models) else [[one] for one in some]
        work += [Work(number, each) for each in together]
    total = sum(map(len, files))
    done = total - sum(len(one.clusters) for one in work)
    show.stage("Summarizing", done, total)
    common = CommonWork([(task.models, task.systems) for task in tasks], budget, unit)
    for one, seconds in workers.each(summarize_some, work, common):
        for system, took in seconds.items():
            show.took(system, took)
        done += len(one.clusters)
        show.stage("Summarizing", done, total)
    made = {system: dict[str, str]() for system in SYSTEMS if any(system in task.systems for task in tasks)}
    for cluster, file in chain.from_iterable(files):
        for system, text in read_record(file).items():
            made[system][str(cluster.id)] = text
    return made
