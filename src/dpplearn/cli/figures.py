"""dpplearn figures: the figures of the paper and ours, as files."""

from __future__ import annotations

from pathlib import Path

import click

from dpplearn.cli import stoppable, usage_errors
from dpplearn.cli.options import WholeNumber
from dpplearn.plots import import_plots
from dpplearn.plots.figures import FIGURES, FORMATS, NUMBERS, figure_names


@click.command(name="figures")
@click.argument("names", nargs=-1)
@click.option("--out", type=click.Path(), default="figures", show_default=True,
              help="Folder to write to; it is made if need be.")  # fmt: skip
@click.option("--format", "formats", type=click.Choice(FORMATS), multiple=True, help="One or more.  [default: all]")
@click.option("--dpi", type=WholeNumber(10, 1200), default=200, show_default=True, help="Dots per inch of the PNG.")
@click.option("--look", type=click.Choice(["paper", "page"]), default="paper", show_default=True,
              help="Type as in papers, or sans type as on pages of the web.")  # fmt: skip
@click.option("--dark", is_flag=True, help="Also NAME-dark.png, for pages that are dark.")
@click.option("--list", "only_list", is_flag=True, help="Print the names and what each shows, and draw nothing.")
def command(
    names: tuple[str, ...], out: str, formats: tuple[str, ...], dpi: int, look: str, dark: bool, only_list: bool
) -> None:
    """Draw the figures NAMES, or all: numbers of the paper's, or names that --list prints.

    Each is written as PDF, SVG and PNG.
    """
    with usage_errors():
        asked = figure_names(names)
    if only_list:
        numbers = {name: number for number, name in NUMBERS.items()}
        for name in asked:
            click.echo(f"{numbers.get(name, ''):1}  {name:12}  {FIGURES[name]}")
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
            with bars() as show, import_plots("dpplearn.plots.style").look(look):
                for done, name in enumerate(asked):
                    show.stage("Drawing", done, len(asked))
                    written += saving.save(saving.draw(name), name, folder, formats or FORMATS, dpi, dark)
    finally:  # after the bar, which would take what goes to standard output for its own
        for path in written:
            click.echo(path)
