"""Systems by name: the learned DPP under its three decoders, the baselines, and the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dpplearn.summarize.experiments import baselines
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.text.units import Unit, cut

if TYPE_CHECKING:
    from dpplearn.summarize.summarizer import Summarizer

# In the order of Table 2.
TITLES = {
    "begin": "Begin",
    "random": "Random",
    "lexrank": "LexRank",
    "lr-mmr": "LR+MMR",
    "lr-dpp": "LR+DPP",
    "submod": "SubMod",
    "dpp-sample": "DPP",
    "dpp-greedy": "DPP (greedy)",
    "dpp-consensus": "DPP (consensus)",
    "oracle": "Oracle",
}
SYSTEMS = tuple(TITLES)
LEARNED = ("lr-mmr", "lr-dpp")
OVERRUN = 15.0  # bytes that sampled and consensus summaries may run over, trimmed by the scorer (section 7.3)


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


def summary_of(system: str, summarizer: Summarizer, read: Featurized, budget: float, unit: Unit) -> str:
    """One system's summary of a cluster, one sentence per line; empty where it can choose no sentence.

    The oracle sees the references. Sampled and consensus summaries may be 15 bytes over a budget of bytes.
    """
    if system.startswith("dpp-"):
        overrun = OVERRUN if unit == "bytes" else 0.0
        options = {"diversity": 0.5, "include": (), "exclude": ()}
        return summarizer._summarize(read, budget, unit, system.removeprefix("dpp-"), options, overrun).text
    if system == "begin":
        return baselines.begin(read, budget, unit)
    if system == "random":
        items = baselines.random_items(read, budget, unit, summarizer.random_state)
    elif system == "lexrank":
        items = baselines.lexrank_items(read, budget, unit)
    elif system == "submod":
        items = baselines.submod_items(read, budget, unit)
    elif system == "oracle":
        items = summarizer.oracle_items(read, budget, unit)
    else:
        logistic = summarizer.logistic_
        if logistic is None:
            raise ValueError(
                f"This model has no weights for {system}: it was trained before dpplearn kept them. "
                "Train it again, or leave lr-mmr and lr-dpp out of --systems."
            )
        if system == "lr-mmr":
            items = logistic.mmr(read, budget, unit)
        else:
            items = logistic.dpp(read, summarizer.rho_, budget, unit)
    if not items.size and system != "oracle":  # no sentence fits: the first one cut, as `Summarizer` cuts its best
        return cut(read.texts[0], budget, unit)
    return "\n".join(read.texts[i] for i in items)
