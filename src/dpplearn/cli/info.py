"""dpplearn info: what a model file holds."""

from pathlib import Path

import click
from rich.table import Table

from dpplearn.cli import visible
from dpplearn.cli.options import FILE
from dpplearn.cli.tables import console


@click.command(name="info")
@click.argument("model", required=False, type=FILE)
def command(model: Path | None) -> None:
    """Print the settings of MODEL (default: the English one inside) and its weights with standard errors."""
    from dpplearn.summarize.summarizer import Summarizer

    summarizer = Summarizer.load(model)
    facts = {
        "budget": f"{summarizer.budget:g} {summarizer.unit}",
        "decoder": summarizer.decoder,
        "rho": f"{summarizer.rho_:g}",
        "language": summarizer.language_ or "english",
        **{name.replace("_", " "): shown(value) for name, value in summarizer.training_.items()},
    }
    for name, value in facts.items():
        click.echo(visible(f"{name}: {value}"))
    table = Table("feature", "weight", "standard error", "weight / error")
    for name, theta, std in zip(summarizer.features_.names, summarizer.theta_, summarizer.theta_std_, strict=True):
        table.add_row(name, f"{theta:+.3f}", f"{std:.3f}", f"{theta / std:+.1f}" if std > 0 else "")
    console().print(table)


def shown(value: object) -> str:
    """A number in six digits, anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
