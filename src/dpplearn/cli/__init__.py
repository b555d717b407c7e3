"""The command line, `dpplearn COMMAND`, and what its commands share: printing, and plain errors and warnings.

A command is a line in COMMANDS and a function NAME_command in the module NAME, or in the module that MODULES names. The
module is imported only when the command is run, so that no command waits for what another needs.
"""

import json
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # and halves of surrogate pairs
COMMANDS = {  # each with its line in --help
    "batch": "Summarize every cluster of a corpus.",
    "baskets": "Learn which items go together in baskets, and recommend.",
    "evaluate": "Score every system on a corpus.",
    "experiment": "Train, test and compare systems: Tables 1 and 2.",
    "figures": "Draw Figures 1 to 5.",
    "info": "Print what a model file holds.",
    "rouge": "Score summaries against references with ROUGE.",
    "select": "Choose items that score high and differ from each other.",
    "serve": "Serve the summarizer as a web page and a JSON API.",
    "summarize": "Summarize documents, with reasons.",
    "train": "Train a summarizer on clusters with reference summaries.",
    "warm": "Compile everything once, so that no later command waits.",
}
OF_PAPER = ("experiment", "figures")
MODULES = {"batch": "summarize", "train": "summarize", "experiment": "evaluate", "figures": "evaluate"}


class LazyGroup(click.Group):
    """A group that imports the module of a command when it is run, and prints errors and warnings as plain lines."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's
        for heading in ("Commands", "The paper"):
            with formatter.section(heading):
                formatter.write_dl(
                    [row for row in COMMANDS.items() if (row[0] in OF_PAPER) == (heading == "The paper")]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load_command(str(name)), rest

    def invoke(self, ctx: click.Context) -> Any:
        from dpplearn._run.progress import say_when_compiling

        note = "First run on this machine: compiling the loops of this command. They are kept on disk for the next run."
        with plain_errors(), plain_warnings(), say_when_compiling(lambda: say(note)):
            return super().invoke(ctx)


def load_command(name: str) -> click.Command:
    """Import the command of this name."""
    command: click.Command = getattr(import_module(f"dpplearn.cli.{MODULES.get(name, name)}"), f"{name}_command")
    return command


def visible(text: str) -> str:
    r"""The text with control characters, which could drive the terminal, as JSON escapes; line ends and tabs stay.

    >>> print(visible("a\x1b]0;title\x07.txt"))
    a\u001b]0;title\u0007.txt
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def say(text: str) -> None:
    """Print a line to standard error, where everything goes that is not the result; it overwrites a progress line."""
    click.echo(("\r\033[K" if sys.stderr.isatty() else "") + visible(text), err=True)


def print_json(data: dict[str, Any]) -> None:
    click.echo(visible(json.dumps(data, indent=2, ensure_ascii=False)))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table with the first column left-aligned and the others right-aligned."""
    from dpplearn.learning.summary import Table, lines_of

    lines = lines_of(Table(columns[0], tuple(columns[1:]), tuple(map(tuple, rows))))
    click.echo(visible("\n".join(["", title, *lines])))


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn an error in the user's input into a message and exit code 1.

    Ctrl-C and SIGTERM both end the work as Ctrl-C does, so that progress is kept; exit codes are 130 and 143.
    """
    signals = [signal.SIGINT]

    def terminate(*_: object) -> None:
        signals.append(signal.SIGTERM)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # `timeout` sends it twice
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()  # only this thread may set handlers
    before = signal.signal(signal.SIGTERM, terminate) if is_main else None
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        raise click.ClickException(visible(str(error))) from error
    except MemoryError as error:
        raise click.ClickException("There is not enough memory for this input. Use a smaller one.") from error
    except KeyboardInterrupt as stop:
        say(str(stop) or "Stopped.")
        raise click.exceptions.Exit(128 + signals[-1]) from None
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)


def check_out(path: Path | None, option: str = "--out") -> None:
    """Raise an error before the work if a file cannot be written there."""
    if path is not None and path.is_dir():
        raise ValueError(f"Cannot write {path}: it is a folder. Give the name of a file as {option}.")
    if path is not None and not (folder := Path(os.path.realpath(path)).parent).is_dir():  # links are followed
        raise ValueError(f"Cannot write {path}: there is no folder {folder}. Make it, or give another {option}.")


def work_beside(out: Path) -> Path | None:
    """The folder OUT.work, from which a stopped run goes on; None if OUT is a device."""
    return out.with_name(f"{out.name}.work") if out.is_file() or not out.exists() else None


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn an error in the options themselves into a message and exit code 2, as click does."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(visible(str(error)), click.get_current_context()) from error


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print each warning once, as a line on standard error without a file name."""
    shown = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            say(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@click.group(
    cls=LazyGroup,
    commands=[click.Command(name, short_help=text) for name, text in COMMANDS.items()],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="dpplearn")
def main() -> None:
    """Learn from examples of good subsets to choose the best set under a budget."""
