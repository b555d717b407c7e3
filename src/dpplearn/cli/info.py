"""dpplearn info: what a model file holds."""

from pathlib import Path
from typing import Any

import click

from dpplearn._io.jsonfile import read_format
from dpplearn.cli import visible
from dpplearn.cli.options import FILE
from dpplearn.learning.summary import Summary, kernel_summary, quality_table


@click.command(name="info")
@click.argument("model", required=False, type=FILE)
def command(model: Path | None) -> None:
    """Print what MODEL holds (default: the English summarizer inside): settings, and weights with standard errors.

    MODEL is a file that Summarizer, ConditionalDPP or KernelDPP saved.
    """
    found = "dpplearn.Summarizer" if model is None else read_format(model, tuple(READERS))
    click.echo(visible(str(READERS[found](model))))


def summarizer(model: Path | None) -> Summary:
    from dpplearn.summarize.summarizer import Summarizer

    found = Summarizer.load(model)
    facts = {
        "budget": f"{found.budget:g} {found.unit}",
        "decoder": found.decoder,
        "rho": f"{found.rho_:g}",
        "language": found.language_ or "english",
        **{name.replace("_", " "): shown(value) for name, value in found.training_.items()},
    }
    return Summary("Summarizer", facts, (quality_table(found.model_),))


def conditional(model: Path | None) -> Summary:
    from dpplearn.learning import ConditionalDPP

    assert model is not None
    return ConditionalDPP.load(model).summary()


def kernel(model: Path | None) -> Summary:
    from dpplearn.learning import KernelDPP

    assert model is not None
    return kernel_summary(KernelDPP.load(model))


READERS: dict[str, Any] = {
    "dpplearn.Summarizer": summarizer,
    "dpplearn.ConditionalDPP": conditional,
    "dpplearn.KernelDPP": kernel,
}


def shown(value: object) -> str:
    """A number in six digits, anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
