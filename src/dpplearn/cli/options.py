"""Options that several commands have, and the types of their values, with messages that say what these must be."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import reduce, wraps
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click
from click.shell_completion import CompletionItem

from dpplearn.decoding.registry import DECODERS, check_decoder


class InRange(click.ParamType):  # type: ignore[type-arg]  # older versions of click take none
    """What the two kinds of number have in common: the range in words."""

    kind: str
    min: float
    max: float | None
    min_open: bool

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            above = f"{'above' if self.min_open else 'of at least'} {self.min}"
            bounds = above if self.max is None else f"from {self.min} to {self.max}"  # inside, both of them
            self.fail(f"must be {self.kind} {bounds}, found {value!r}.", param, ctx)


class WholeNumber(InRange, click.IntRange):  # type: ignore[misc]  # its bounds are more than InRange asks for
    """A whole number in a range."""

    kind = "a whole number"


class Size(WholeNumber):
    """A whole number, or "auto"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "auto" else super().convert(value, param, ctx)


class Number(InRange, click.FloatRange):  # type: ignore[misc]  # as above
    """A number in a range."""

    kind = "a number"


class DecoderName(click.ParamType):  # type: ignore[type-arg]  # as above: older versions take none
    """Any name of the registry, also one that joins it later, or an alias."""

    name = "decoder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return check_decoder(value, "it")
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  # click's signature
        """What `dpplearn completion` offers."""
        return [CompletionItem(name) for name in DECODERS if name.startswith(incomplete)]


class Length(click.ParamType):  # type: ignore[type-arg]  # as above
    """A number, or a share of the text such as 20%."""

    name = "number or share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from dpplearn.summarize.text.units import share_of

        try:
            return float(value)
        except ValueError:
            pass
        try:
            share_of(value)
        except ValueError as error:
            self.fail(str(error).removeprefix("budget "), param, ctx)
        return value


FILE = click.Path(path_type=Path)  # to be read or written
PATH = click.Path(exists=True, path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
DECODERS_HELP = "; ".join(f"{name}: {known.help}" for name, known in DECODERS.items())
DIVERSITY = click.option(
    "--diversity", type=Number(0, 1), default=0.5, show_default=True, help="0: by score alone, 1: by variety alone."
)
ENCODING = click.option("--encoding", help="Of the files.  [default: utf-8]")
MODEL = click.option("--model", type=FILE, help="A model file.  [default: the one inside, for any text]")
COMPRESS = click.option(
    "--compress", is_flag=True, help="Shorter forms of sentences, with spans dropped, may be chosen, too."
)
ENCODER = click.option(
    "--encoder",
    metavar="MODULE:OBJECT",
    help="Makes vectors of a list of texts, itself or by .encode; of a module installed, or in the current folder.",
)
SKIP_BAD = click.option(
    "--skip-bad",
    is_flag=True,
    help="Go on past what cannot be read, and past clusters without a sentence or a reference.",
)


CORPUS = click.Path(path_type=Path)  # a file, a folder or a pattern, which `open_corpus` looks for
BACKEND = click.option("--backend", type=click.Choice(["dask"]), help="Work on a Dask cluster.")
SCHEDULER = click.option(
    "--scheduler", metavar="ADDRESS", help="Of a Dask cluster to work on, such as tcp://host:8786."
)
UNIT = click.Choice(["bytes", "words", "sentences", "tokens"])


def named_encoder(name: str | None) -> Any:
    """The encoder that --encoder names, imported; None where it is not given.

    The current folder is looked in after what is installed, so that no file there stands in for a module that others
    mean. It stays in the path: workers get the path of who started them, and look the encoder up again.
    """
    if name is None:
        return None
    from dpplearn.summarize.model.meaning import check_encoder

    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    try:
        return check_encoder(resolve_name(name))
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise ValueError(
            f"--encoder {name} cannot be imported: {error}. Give module:object; modules are looked for among those "
            f"installed, and in the current folder, {here}."
        ) from None
    except TypeError as error:
        raise ValueError(f"--encoder {name}: {error}") from None


def several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Many options as one, which --help lists in this order."""
    return lambda command: reduce(lambda inner, option: option(inner), reversed(options), command)


summary_options = several(
    click.option(
        "--budget",
        type=Length(),
        metavar="LENGTH",
        help="At most so long, or a share of the text such as 20%; in sentences, so many.  "
        "[default: what suits the text, about 100 words for ten news articles; with --model, its own]",
    ),
    click.option("--unit", type=UNIT, help="[default: words]"),
    click.option("--decoder", type=DecoderName(), metavar="NAME", help=f"{DECODERS_HELP}.  [default: the model's]"),
    DIVERSITY,
    click.option("--min-words", type=WholeNumber(0), default=1, help="Fewest words of a sentence."),
    click.option("--keep-all", is_flag=True, help="Choose from headings, tables, code, fragments and repeats, too."),
    click.option("--about", metavar="QUESTION", help="What the summary is to be about: a question, or a few words."),
    click.option(
        "--order",
        type=click.Choice(["chronological", "source", "importance"]),
        default="chronological",
        show_default=True,
        help="Documents by date where they have one, as given, or what adds most first.",
    ),
    COMPRESS,
)


def features_option(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--features, which `train` and the paper's experiment have by different defaults."""
    choice = click.Choice(["general", "paper"])
    return click.option("--features", type=choice, default=default, show_default=True, help="Of sentences.")


learning_options = several(
    click.option("--budget", type=float, default=665, show_default=True, help="Length of the summaries."),
    click.option("--unit", type=UNIT, default="bytes", show_default=True),
    click.option(
        "--oracle",
        type=click.Choice(["pairs", "paper"]),
        default="pairs",
        show_default=True,
        help="Extracts to learn from: by words and word pairs, or the paper's.",
    ),
    click.option(
        "--targets",
        type=click.Choice(["each", "all"]),
        help="An extract for each reference, or one for all.  [default: each for consensus, else all]",
    ),
    click.option(
        "--bigrams", type=Number(0, 1), default=0.3, show_default=True, help="Word pairs in what consensus compares."
    ),
    click.option("--rho", type=Number(0), default=0.3, show_default=True, help="Constant similarity feature."),
    ENCODER,
    click.option("--prior-variance", type=Number(0, min_open=True), default=1.0, show_default=True),
    click.option("--tune", is_flag=True, help="Choose rho and the prior variance on held-out ROUGE-1 F."),
    click.option(
        "--language", help="Of the corpus; clusters in other languages are left out.  [default: all are English]"
    ),
)


@dataclass(frozen=True)
class Run:
    """What `evaluate` and `experiment` are both told: how corpora are read and where results go."""

    only: str | None
    jobs: int
    backend: str | None
    scheduler: str | None
    out: Path | None
    as_json: bool
    encoding: str | None
    skip_bad: bool


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Run` to a command, which gets them as `run`."""

    @wraps(command)
    def bundled(**given: Any) -> None:
        command(run=Run(**{one.name: given.pop(one.name) for one in fields(Run)}), **given)

    decorated: Callable[..., None] = several(
        AS_JSON,
        click.option("--out", type=FILE, help="Folder for results.json and all summaries."),
        click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for all cores."),
        BACKEND,
        SCHEDULER,
        click.option("--references", "only", metavar="PART", help="Only references with this in their reference_ids."),
        ENCODING,
        SKIP_BAD,
    )(bundled)
    return decorated
