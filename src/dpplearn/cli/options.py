"""Options that several commands share, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click

from dpplearn.decoding.registry import DECODERS


class Command(click.Command):
    """A command whose help has the common options first, and the others under "More"."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        for heading in ("Options", "More"):
            here = [option for option in options if isinstance(option, More) == (heading == "More")]
            if rows := [row for option in here if (row := option.get_help_record(ctx)) is not None]:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class More(click.Option):
    """An option that few people need."""


more = partial(click.option, cls=More)


class Size(click.IntRange):
    """A whole number, or "auto"."""

    name = 'whole number or "auto"'

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "auto" else super().convert(value, param, ctx)


class Length(click.ParamType):  # type: ignore[type-arg]  # older versions of click take none
    """A number, a share of the text such as 20%, or "auto"."""

    name = "number or share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from dpplearn.summarize.text.units import share_of

        try:
            share_of(value)
        except ValueError as error:
            try:
                return float(value)
            except ValueError:
                self.fail(str(error), param, ctx)
        return value


FILE = click.Path(path_type=Path)  # a file to read or write
PATH = click.Path(exists=True, path_type=Path)
CORPUS = click.Path(path_type=Path)  # a file, folder or pattern that `open_corpus` looks for
UNIT = click.Choice(["words", "bytes", "sentences", "tokens"])
UNIT_NAMES = "words, bytes, sentences or tokens"
ORDER = click.Choice(["chronological", "source", "importance"])

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
SHARE_TYPE = click.FloatRange(0, 1)
VARIETY = "0: quality alone, 1: variety alone."
DIVERSITY = click.option("--diversity", metavar="NUMBER", type=SHARE_TYPE, default=0.5, show_default=True, help=VARIETY)
MODEL = click.option("--model", type=FILE, help="A model file.  [default: one for any text]")
DECODER = partial(more, "--decoder", type=click.Choice([*DECODERS]), metavar="NAME")
DECODER_NAMES = ", ".join(DECODERS)
ENCODING = more("--encoding", help="Encoding of the files.  [default: utf-8]")
SKIP_BAD = more("--skip-bad", is_flag=True, help="Leave out clusters that cannot be read or used.")
JOBS = more("--jobs", type=int, default=-1, help="Processes or threads.  [default: -1, all cores]")
SCHEDULER = more("--scheduler", metavar="ADDRESS", help="Of a Dask cluster, such as tcp://host:8786.")
LANGUAGE = more("--language", metavar="NAME", help="Language to keep; other clusters are left out.")


def several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one; --help lists them in this order."""
    return lambda command: reduce(lambda inner, option: option(inner), reversed(options), command)


summary_options = several(
    click.option(
        "--budget",
        type=Length(),
        metavar="LENGTH",
        help="A length, or a share such as 20%.  [default: to suit the text]",
    ),
    click.option("--unit", type=UNIT, metavar="UNIT", help=f"{UNIT_NAMES}.  [default: words]"),
    click.option("--about", metavar="QUESTION", help="Question, or a few words, to be answered."),
    DIVERSITY,
    click.option("--compress", is_flag=True, help="Allow shortened sentences."),
    MODEL,
    more("--annotate/--no-annotate", default=True, help="Add first names and dates in [brackets], or not."),
    more("--keep-all", is_flag=True, help="Choose from headings, tables and fragments, too."),
    more("--order", type=ORDER, metavar="ORDER", default=ORDER.choices[0], help="chronological, source or importance."),
    DECODER(help=f"{DECODER_NAMES}.  [default: the model's]"),
)


# models learn from, and are scored at, the lengths of the paper unless the caller sets others
length_options = several(
    click.option("--budget", type=float, default=665, show_default=True, help="Length of the summaries."),
    click.option("--unit", type=UNIT, metavar="UNIT", default="bytes", show_default=True, help=f"{UNIT_NAMES}."),
)
