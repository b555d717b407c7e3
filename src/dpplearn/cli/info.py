"""dpplearn info: what a model file holds."""

from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from dpplearn._io.jsonfile import read_object
from dpplearn.cli import visible
from dpplearn.cli.options import FILE
from dpplearn.learning.summary import ModelSummary, quality_table

KINDS = {  # of files
    "dpplearn.ConditionalDPP": "dpplearn.learning:ConditionalDPP",
    "dpplearn.KernelDPP": "dpplearn.baskets:KernelDPP",
}


@click.command(name="info")
@click.argument("model", required=False, type=FILE)
def command(model: Path | None) -> None:
    """Print what MODEL holds (default: the summarizer inside): settings, and weights with standard errors.

    MODEL is a file that Summarizer, ConditionalDPP or KernelDPP saved.
    """
    ours = "dpplearn.Summarizer"
    kind = ours if model is None else str(read_object(model, (*KINDS, ours))["format"])
    found = resolve_name(KINDS[kind]).load(model).summary() if kind in KINDS else summarizer(model)
    click.echo(visible(str(found)))


def summarizer(model: Path | None) -> ModelSummary:
    from dpplearn.summarize.model.modelfile import load_summarizer
    from dpplearn.summarize.summarizer import Summarizer

    found = Summarizer._of(*load_summarizer(model, for_use=False))
    meaning = found.features_.meaning
    corpora = several if isinstance(several := found.training_.get("corpora"), dict) else {}
    facts = {
        "budget": f"{found.budget:g} {found.unit}",
        "decoder": found.decoder,
        "rho": f"{found.rho_:g}",
        **({} if meaning is None else {"encoder": f"{meaning.name}, {meaning.width} numbers for a text"}),
        "language": found.language_ or "english",
        **{name.replace("_", " "): shown(x) for name, x in found.training_.items() if not isinstance(x, dict)},
        **{f"corpus of {name}": in_words(one) for name, one in corpora.items() if isinstance(one, dict)},
    }
    return ModelSummary("Summarizer", facts, (quality_table(found.model_),))


def shown(value: object) -> str:
    """A number in six digits, anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def in_words(corpus: Mapping[str, Any]) -> str:
    """What a model file says of a corpus that it was trained on, one of several.

    Examples
    --------
    >>> in_words({"clusters": 70, "weight": 30.0, "budget": 250, "unit": "words", "source": "MultiLing 2011"})
    '70 clusters, summaries of 250 words, weight 30; MultiLing 2011'
    """
    known = {"clusters": "{} clusters", "budget": f"summaries of {{}} {corpus.get('unit', '')}".rstrip()}
    parts = [text.format(shown(corpus[name])) for name, text in known.items() if name in corpus]
    others = [name for name in corpus if name not in (*known, "unit", "source")]
    parts += [f"{name.replace('_', ' ')} {shown(corpus[name])}" for name in others]
    return ", ".join(parts) + (f"; {corpus['source']}" if "source" in corpus else "")
