"""Systems by name: the learned DPP under its decoders, with shorter sentences, the baselines, the oracle; and peers.

`make_summaries` has them summarize a corpus; what a work folder has already is not made again. `read_peers` reads
summaries that other systems made, to be scored in the same table.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from dpplearn._io.encoding import entries
from dpplearn._io.jsonfile import read_record, write_record
from dpplearn._io.workfolder import WorkFolder
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import Workers
from dpplearn.rouge.candidates import add, read_candidates, read_text
from dpplearn.rouge.reading import Text
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
    "dpp-greedy": "DPP (greedy)",
    "dpp-consensus": "DPP (consensus)",
    "dpp-compressed": "DPP (compressed)",
    "oracle": "Oracle",
}
SYSTEMS = tuple(SYSTEM_TITLES)
DECODER_OF = {
    "dpp-sample": "sampled",
    "dpp-greedy": "greedy",
    "dpp-consensus": "consensus",
    "dpp-compressed": "consensus",
}
COMPRESSED = "dpp-compressed"  # with shorter forms of sentences
PAPER_SYSTEMS = ("dpp-sample", "dpp-greedy")  # which learn from one extract for all references
LEARNED = ("lr-mmr", "lr-dpp")
OVERRUN = 15.0  # bytes that sampled and consensus summaries may run over, trimmed by the scorer (section 7.3)


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

    The oracle sees the references. Sampled and consensus summaries may be 15 bytes over a budget of bytes. All
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


Piece = tuple[int, list[tuple[Cluster, Path]]]  # a task's number; some of its clusters, and files for their summaries


def summarize_some(piece: Piece, given: tuple[list[Task], float, Unit]) -> Counter[str]:
    """The seconds that each system took; models that are still to be trained are trained here first."""
    (number, clusters), (tasks, budget, unit) = piece, given
    models, _, systems = tasks[number]
    models, seconds = models() if callable(models) else models, Counter[str]()
    for cluster, file in clusters:
        read, made = models.summarizer.features_.read(cluster), dict[str, str]()
        for system in systems:
            start = perf_counter()
            made[system] = summary_of(system, models, read, budget, unit)
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
    show, pieces, files = as_progress(progress), list[Piece](), list[tuple[Cluster, Path]]()
    for number, task in enumerate(tasks):
        own = [(one, folder.file(f"summaries-{number}", k, ".json")) for k, one in enumerate(task.clusters)]
        some = [(one, file) for one, file in own if not file.exists()]
        # those of one model that is still to be trained stay together: it is trained once
        pieces += [(number, each) for each in ([some] if some and callable(task.models) else [[one] for one in some])]
        files += own
    done = len(files) - sum(len(clusters) for _, clusters in pieces)
    show.stage("Summarizing", done, len(files))
    common = [task._replace(clusters=[]) for task in tasks], budget, unit
    for (_, clusters), seconds in workers.each(summarize_some, pieces, common):
        for system, took in seconds.items():
            show.took(system, took)
        done += len(clusters)
        show.stage("Summarizing", done, len(files))
    made = {system: dict[str, str]() for system in SYSTEMS if any(system in task.systems for task in tasks)}
    for cluster, file in files:
        for system, text in read_record(file).items():
            made[system][str(cluster.id)] = text
    return made


# A peer's summary as DUC names it: D30001.M.100.T.65 is that of peer 65.
_DUC = re.compile(r"(?P<topic>.+)\.M\.\d+\.[A-Z]\.(?P<peer>[A-Za-z0-9]+)", re.IGNORECASE)


def read_peers(path: Path, ids: Collection[str], *, required: bool = True) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster, of the clusters asked for.

    Parameters
    ----------
    path : Path
        A JSON Lines file of `{"id", "system", "summary"}`; or a folder with such a file for each system (named after
        it, if its lines do not say), with a folder SYSTEM/ID.txt for each, or with DUC's files `D30001.M.100.T.65`.
    ids : collection of str
        Ids of the clusters, matched in any case. Others are left out; a peer that lacks some is scored on what it has,
        with a warning.
    required : bool
        Whether a cluster without a summary is worth a word, and none at all an error.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Give a folder of summaries or a JSON Lines file.")
    given = read_peer_folder(path) if path.is_dir() else read_candidates(path)
    names = {name.lower(): name for name in ids}
    found: dict[str, dict[str, str]] = {}
    for system, texts in given.items():
        for topic, text in texts.items():
            if topic.lower() in names:
                whole = text if isinstance(text, str) else "\n".join(map(str, text))
                found.setdefault(system, {})[names[topic.lower()]] = whole
    if not required:
        return found
    if not found:
        example = next(iter(next(iter(given.values()))))
        raise ValueError(
            f"No id in {path} is that of a cluster: found, for example, {example!r} there and {min(ids)!r} here."
        )
    for system, summaries in found.items():
        lacking = sorted(set(ids) - set(summaries))
        if lacking:
            some = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            warnings.warn(f"Peer {system} has no summary of {len(lacking)} clusters: {some}.", stacklevel=2)
    return found


def read_peer_folder(folder: Path) -> dict[str, dict[str, Text]]:
    """A folder with one JSON Lines file per system, files as DUC names them, or folders of text files."""
    files = [entry for entry in entries(folder) if entry.is_file()]
    lines = [file for file in files if file.suffix in (".jsonl", ".ndjson")]
    named = [] if lines else [(file, match) for file in files if (match := _DUC.fullmatch(file.name))]
    if not lines and not named:
        return read_candidates(folder)
    found: dict[str, dict[str, Text]] = {}
    for file in lines:
        for system, texts in read_candidates(file).items():
            for topic, text in texts.items():
                add(found.setdefault(system, {}), topic, text, file)
    for file, match in named:
        add(found.setdefault(match["peer"], {}), match["topic"], read_text(file), file)
    return found
