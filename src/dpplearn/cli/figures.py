"""dpplearn figures: the figures of the paper, as files."""

from __future__ import annotations

from pathlib import Path

import click

from dpplearn.cli import stoppable, usage_errors
from dpplearn.cli.options import Command
from dpplearn.plots import import_plots
from dpplearn.plots.figures import FIGURES, figure_names

NAMES = "\n".join(f"{number} or {name:10}  {what}" for number, (name, what) in enumerate(FIGURES.items(), 1))
HELP = f"Draw the paper's figures NAMES, or all of them, each as PDF, SVG and PNG.\n\n\b\nNAMES are\n{NAMES}"


@click.command(name="figures", cls=Command, help=HELP)
@click.argument("names", nargs=-1)
@click.option("--out", type=click.Path(), default="figures", show_default=True, help="Folder to write to.")
def command(names: tuple[str, ...], out: str) -> None:
    with usage_errors():
        asked = figure_names(names)
    from dpplearn.cli.bars import bars

    try:
        saving = import_plots("dpplearn.plots.saving")
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    written: list[Path] = []
    try:
        with stoppable("Stopped. Figures already written are complete."):
            folder = saving.check_folder(out)
            with bars() as show:
                for done, name in enumerate(asked):
                    show.stage("Drawing", done, len(asked))
                    written += saving.save(saving.draw(name), name, folder)
    finally:  # after the bar, which would take what goes to standard output for its own
        for path in written:
            click.echo(path)
