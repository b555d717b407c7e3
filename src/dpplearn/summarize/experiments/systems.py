"""Systems by name: the learned DPP under its decoders, with shorter sentences, the baselines, the oracle; and peers.

`make_summaries` has them summarize a corpus. `read_peers` reads summaries that other systems made, to be scored in the
same table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._checks import IntArray, warn_user
from dpplearn._io.encoding import entries
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import Workers
from dpplearn.rouge.candidates import add, read_candidates, read_text
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments import baselines
from dpplearn.summarize.experiments.baselines import Logistic
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.training import few
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import Unit, cut

OVERRUN = 15.0  # bytes that sampled and consensus summaries may run over, trimmed by the scorer (section 7.3)


class SystemModels(NamedTuple):
    """What the systems have learned: a summarizer and, where it is asked for, the regression of lr-mmr and lr-dpp."""

    summarizer: Summarizer
    logistic: Logistic | None = None

    def regression(self) -> Logistic:
        """The regression, which is trained where lr-mmr or lr-dpp is asked for."""
        assert self.logistic is not None
        return self.logistic


def filled(decoder: str, compress: bool = False) -> Callable[..., str]:
    """Our summary under a decoder that fills the budget, as the paper defines it, so that tables compare equal lengths.

    Sampled and consensus summaries may be 15 bytes over a budget of bytes.
    """

    def system(models: SystemModels, read: SplitCluster, budget: float, unit: Unit) -> str:
        overrun = OVERRUN if unit == "bytes" else 0.0
        asked: Any = models.summarizer._decision(
            read, budget, unit, decoder, overrun=overrun, fill=True, compress=compress
        )
        return Summary.of(asked).text

    return system


# In the order of Table 2: what each is called there, and what it makes of models, a cluster, a budget and its unit: a
# text or item numbers.
SYSTEMS: dict[str, tuple[str, Callable[..., str | IntArray]]] = {
    "begin": ("Begin", lambda _, *asked: baselines.begin(*asked)),
    "random": ("Random", lambda models, *asked: baselines.random_items(models.summarizer.random_state, *asked)),
    "lexrank": ("LexRank", lambda _, *asked: baselines.lexrank_items(*asked)),
    "lr-mmr": ("LR+MMR", lambda models, *asked: models.regression().mmr(*asked)),
    "lr-dpp": ("LR+DPP", lambda models, *asked: models.regression().dpp(models.summarizer.rho_, *asked)),
    "submod": ("SubMod", lambda _, *asked: baselines.submod_items(*asked)),
    "dpp-sample": ("DPP", filled("sampled")),
    "dpp-greedy": ("DPP (greedy)", filled("greedy")),
    "dpp-consensus": ("DPP (consensus)", filled("consensus")),
    "dpp-compressed": ("DPP (compressed)", filled("consensus", compress=True)),
    "dpp-summarize": ("DPP (as summarize)", lambda models, *asked: models.summarizer.summarize(*asked).text),
    "oracle": ("Oracle", lambda models, *asked: models.summarizer.oracle_items(*asked)),  # it sees the references
}
PAPER_SYSTEMS = ("dpp-sample", "dpp-greedy")  # which learn from one extract for all references
LEARNED = ("lr-mmr", "lr-dpp")


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


def summary_of(system: str, models: SystemModels, read: SplitCluster, budget: float, unit: Unit) -> str:
    """One system's summary of a cluster, one sentence per line; empty where it can choose no sentence."""
    found = SYSTEMS[system][1](models, read, budget, unit)
    if isinstance(found, str):
        return found
    if not found.size and system != "oracle":  # no sentence fits: the first one cut, as `Summarizer` cuts its best
        return cut(read.texts[0], budget, unit)
    return "\n".join(read.texts[i] for i in found)


class Task(NamedTuple):
    """Clusters to be summarized under some systems by models, or by those that a function trains."""

    models: SystemModels | Callable[[], SystemModels]
    clusters: list[Cluster]
    systems: Sequence[str]


def summarize_some(piece: Task, length: tuple[float, Unit]) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster; models are trained here if need be."""
    models = piece.models() if callable(piece.models) else piece.models
    made = {system: dict[str, str]() for system in piece.systems}
    for cluster in piece.clusters:
        read = models.summarizer.features_.read(cluster)
        for system in piece.systems:
            made[system][str(cluster.id)] = summary_of(system, models, read, *length)
    return made


def make_summaries(
    tasks: Sequence[Task], budget: float, unit: Unit, workers: Workers, *, progress: bool | Progress = False
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster."""
    show, done, pieces = as_progress(progress), 0, list[Task]()
    for task in tasks:  # the clusters of a model that is still to be trained stay together: it is trained once
        pieces += [task] if callable(task.models) else [task._replace(clusters=[one]) for one in task.clusters]
    total = sum(len(piece.clusters) for piece in pieces)
    made = {system: dict[str, str]() for system in SYSTEMS if any(system in task.systems for task in tasks)}
    for piece, own in workers.each(summarize_some, pieces, (budget, unit)):
        for system, summaries in own.items():
            made[system] |= summaries
        done += len(piece.clusters)
        show.stage("Summarizing", done, total)
    return made


# A peer's summary as DUC names it: D30001.M.100.T.65 is that of peer 65.
_DUC = re.compile(r"(?P<topic>.+)\.M\.\d+\.[A-Z]\.(?P<peer>[A-Za-z0-9]+)", re.IGNORECASE)


def read_peers(path: Path, ids: Collection[str], *, required: bool = True) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster, of the clusters asked for.

    Parameters
    ----------
    path : Path
        A JSON Lines file of `{"id", "system", "summary"}`; or a folder SYSTEM/ID.txt for each system; or a folder with
        DUC's files `D30001.M.100.T.65`.
    ids : collection of str
        Ids of the clusters, matched in any case. Others are left out; a peer that lacks some is scored on what it has,
        with a warning.
    required : bool
        Whether a cluster without a summary is worth a word, and none at all an error.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Give a folder of summaries or a JSON Lines file.")
    files = [entry for entry in entries(path) if entry.is_file()] if path.is_dir() else []
    named = [(file, match) for file in files if (match := _DUC.fullmatch(file.name))]
    given = {} if named else read_candidates(path)
    for file, match in named:
        add(given.setdefault(match["peer"], {}), match["topic"], read_text(file), file)
    ours, found = {name.lower(): name for name in ids}, dict[str, dict[str, str]]()
    for system, texts in given.items():
        for topic, text in texts.items():
            if topic.lower() in ours:
                whole = text if isinstance(text, str) else "\n".join(map(str, text))
                found.setdefault(system, {})[ours[topic.lower()]] = whole
    if required and not found:
        example = next(iter(next(iter(given.values()))))
        raise ValueError(
            f"No id in {path} is that of a cluster: found, for example, {example!r} there and {min(ids)!r} here."
        )
    for system, summaries in found.items() if required else ():
        if lacking := sorted(set(ids) - set(summaries)):
            warn_user(f"Peer {system} has no summary of {len(lacking)} clusters: {few(lacking)}.")
    return found
