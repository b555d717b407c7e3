"""dpplearn figures: the figures of the paper, as files."""

from __future__ import annotations

from pathlib import Path

import click

from dpplearn.cli import stoppable, usage_errors
from dpplearn.cli.options import WholeNumber
from dpplearn.plots import import_plots
from dpplearn.plots.figures import FIGURES, FORMATS, figure_names


@click.command(name="figures")
@click.argument("names", nargs=-1)
@click.option("--out", type=click.Path(), default="figures", show_default=True,
              help="Folder to write to; it is made if need be.")  # fmt: skip
@click.option("--format", "formats", type=click.Choice(FORMATS), multiple=True, help="One or more.  [default: all]")
@click.option("--dpi", type=WholeNumber(10, 1200), default=200, show_default=True, help="Dots per inch of the PNG.")
@click.option("--list", "only_list", is_flag=True, help="Print the names and what each shows, and draw nothing.")
def command(names: tuple[str, ...], out: str, formats: tuple[str, ...], dpi: int, only_list: bool) -> None:
    """Draw the paper's figures NAMES, or all: numbers, or names that --list prints.

    Each is written as PDF, SVG and PNG.
    """
    with usage_errors():
        asked = figure_names(names)
    if only_list:
        for name in asked:
            click.echo(f"{list(FIGURES).index(name) + 1}  {name:12}  {FIGURES[name]}")
        return
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
                    written += saving.save(saving.draw(name), name, folder, formats or FORMATS, dpi)
    finally:  # after the bar, which would take what goes to standard output for its own
        for path in written:
            click.echo(path)
