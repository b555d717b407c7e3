"""The command line: `dpplearn COMMAND`.

A command is a module here with a click command called `command`, and a line in COMMANDS. It is imported when
it is run, so that what one command needs does not slow the others down.
"""

import json
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # and halves of surrogate pairs

TYPED = "dpplearn.typed"  # where a context keeps the words of the command line

# name of the command and of its module: one line for --help
COMMANDS = {
    "batch": "Summarize every cluster of a corpus.",
    "baskets": "Learn kernels from baskets, recommend what comes next.",
    "completion": "Print what makes a shell complete commands and options.",
    "evaluate": "Score every system on a corpus (Table 2).",
    "experiment": "Train, test and compare: Tables 1 and 2 of the paper.",
    "figures": "Draw the figures of the paper, and ours.",
    "info": "Print what a model file holds: weights with standard errors.",
    "rouge": "Score summaries against references with ROUGE.",
    "select": "Choose items that score high and differ from each other.",
    "serve": "Serve the page and the JSON API of the summarizer.",
    "summarize": "Summarize documents, with reasons.",
    "train": "Train a summarizer on clusters with reference summaries.",
    "warm": "Compile every loop once, so that nothing waits for it later.",
}


class LazyGroup(click.Group):
    """A group whose commands stand for modules until one is run, and whose errors and warnings are plain lines."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with the nearest name where there is no such command."""
        near = [] if args[0] in COMMANDS else get_close_matches(args[0], COMMANDS, n=1)
        if near:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and import_module(f"dpplearn.cli.{name}").command, rest

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[TYPED] = [*args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with plain_errors(ctx), plain_warnings(ctx), first_run_notice():
            return super().invoke(ctx)


def visible(text: str) -> str:
    r"""Control characters, which could tell the terminal what to do, as JSON escapes them; line ends and tabs stay.

    Examples
    --------
    >>> print(visible("a\x1b]0;title\x07.txt"))
    a\u001b]0;title\u0007.txt
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def say(text: str) -> None:
    """Print a line to standard error: all that is not the result goes there."""
    click.echo(visible(text), err=True)


def print_json(data: dict[str, Any]) -> None:
    click.echo(visible(json.dumps(data, indent=2, ensure_ascii=False)))


def worded(message: str, ctx: click.Context | None) -> str:
    """A message with the names of the options of the command that runs, and without control characters."""
    from dpplearn.cli.wording import with_options

    command = None if ctx is None else ctx.command
    if ctx is not None and isinstance(command, LazyGroup) and ctx.invoked_subcommand in COMMANDS:
        command = import_module(f"dpplearn.cli.{ctx.invoked_subcommand}").command
    typed = [] if ctx is None else ctx.meta.get(TYPED, [])
    return visible(with_options(message, command, typed))


@contextmanager
def plain_errors(ctx: click.Context | None = None) -> Iterator[None]:
    """Turn an error about the user's input into a message and exit code 1.

    Ctrl-C and SIGTERM become a line and exit codes 130 and 143, after what Ctrl-C does: progress is kept, workers end.
    """
    heard = signal.SIGINT

    def terminate(*_: object) -> None:
        nonlocal heard
        heard = signal.SIGTERM
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # `timeout` sends it twice
        raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()  # no other may say who answers a signal
    before = signal.signal(signal.SIGTERM, terminate) if ours else None
    try:
        yield
    except (ValueError, OSError) as error:
        raise click.ClickException(worded(str(error), ctx)) from error
    except MemoryError as error:
        raise click.ClickException("There is not enough memory for this input. Give a smaller one.") from error
    except KeyboardInterrupt as stop:
        say(worded(str(stop) or "Stopped.", ctx))
        raise click.exceptions.Exit(128 + heard) from None
    finally:
        if ours:
            signal.signal(signal.SIGTERM, before)


def check_out(path: Path | None, option: str = "--out") -> None:
    """A file can be written there: said before the work, not after it."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"Cannot write {path}: it is a folder. Give the name of a file as {option}.")
    folder = Path(os.path.realpath(path)).parent  # a link is written through
    if not folder.is_dir():
        raise ValueError(f"Cannot write {path}: there is no folder {folder}. Make it, or give another {option}.")


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn an error about the options themselves into a message and exit code 2, as click does."""
    try:
        yield
    except ValueError as error:
        here = click.get_current_context()
        raise click.UsageError(worded(str(error), here), here) from error


@contextmanager
def plain_warnings(ctx: click.Context | None = None) -> Iterator[None]:
    """Print warnings as a line on standard error, once each, instead of Python's two with a file name."""
    said = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            say(f"Warning: {worded(str(message), ctx)}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextmanager
def first_run_notice() -> Iterator[None]:
    """Say on standard error that loops are being compiled, where that is what takes the time."""
    from dpplearn._run.notice import say_when_compiling

    note = "First run on this machine: compiling loops that this command needs; they are kept on disk."
    with say_when_compiling(lambda: say(note)):
        yield


@contextmanager
def stoppable(message: str | Callable[[], str]) -> Iterator[None]:
    """Within `plain_errors`: what Ctrl-C says, which may depend on how far the work is."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(message if isinstance(message, str) else message()) from None


@click.group(
    cls=LazyGroup,
    commands=[click.Command(name, short_help=text) for name, text in COMMANDS.items()],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="dpplearn")
def main() -> None:
    """Learn from examples of good subsets to choose the best set under a budget."""
