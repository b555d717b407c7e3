"""dpplearn info: prints what a model file holds."""

from pathlib import Path
from pkgutil import resolve_name

import click

from dpplearn._io.jsonfile import read_object
from dpplearn.cli import visible
from dpplearn.cli.options import FILE
from dpplearn.learning.summary import ModelSummary, quality_table

MODEL_CLASSES = {  # by the format of the model file
    "dpplearn.ConditionalDPP": "dpplearn.learning:ConditionalDPP",
    "dpplearn.KernelDPP": "dpplearn.baskets:KernelDPP",
}


@click.command(name="info")
@click.argument("model", required=False, type=FILE)
def info_command(model: Path | None) -> None:
    """Print the settings in MODEL, and its weights with standard errors.

    MODEL is a file that a Summarizer, ConditionalDPP or KernelDPP saved; without it, the summarizer's own model.
    """
    ours = "dpplearn.Summarizer"
    kind = ours if model is None else str(read_object(model, (*MODEL_CLASSES, ours))["format"])
    summary = (
        resolve_name(MODEL_CLASSES[kind]).load(model).summary() if kind in MODEL_CLASSES else summarizer_summary(model)
    )
    click.echo(visible(str(summary)))


def summarizer_summary(model: Path | None) -> ModelSummary:
    from dpplearn.summarize.summarizer import Summarizer

    summarizer = Summarizer.load(model)
    training = summarizer.training_
    facts = {
        "budget": f"{summarizer.budget:g} {summarizer.unit}",
        "decoder": summarizer.decoder,
        "rho": f"{summarizer.rho_:g}",
        "language": summarizer.language_ or "english",
        **{name.replace("_", " "): in_digits(x) for name, x in training.items() if not isinstance(x, dict)},
    }
    corpora = training.get("corpora")
    for name, corpus in corpora.items() if isinstance(corpora, dict) else ():
        counts = corpus.items() if isinstance(corpus, dict) else ()
        facts[f"corpus of {name}"] = ", ".join(f"{key.replace('_', ' ')} {in_digits(x)}" for key, x in counts)
    return ModelSummary("Summarizer", facts, (quality_table(summarizer.model_),))


def in_digits(value: object) -> str:
    """A number with six digits, anything else unchanged."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
