"""Systems by name: the learned DPP under its decoders, with shorter sentences, the baselines, the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

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
