"""Messages of the library as the command line says them: options by their names, not arguments of Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import click

_SUBJECT = "must|needs|may|cannot"  # what follows an argument that is the subject of a sentence
_VALUE = r"=(\"[^\"]*\"|'[^']*'|[\w.%-]*[\w%-])"


def with_options(message: str, command: click.Command | None, typed: Iterable[str] = ()) -> str:
    """A message in which arguments are called as the options of a command are; what the user typed stays as it is.

    An argument is what has a value (`rank=30`), what is written with an underscore (`max_iter`), or what begins a
    sentence (`encoder must be ...`): other words stay, as names of fields after the place in a file do.

    Examples
    --------
    >>> rank, flag = click.Option(["--rank"]), click.Option(["--keep-all"], is_flag=True)
    >>> fit = click.Command("fit", params=[rank, flag, click.Option(["--solver"])])
    >>> with_options("rank must be at least 7. Pass rank=7, or solver='em'.", fit)
    '--rank must be at least 7. Pass --rank 7, or --solver em.'
    >>> with_options("Pass keep_all=True, or leave it: the rank must be 7, found rank=None.", fit)
    'Pass --keep-all, or leave it: the rank must be 7, found no --rank.'
    >>> with_options("Raise keep_all, or 'keep_all'.", fit)
    "Raise --keep-all, or 'keep_all'."
    >>> with_options("rank=7.txt does not exist. Pass rank=7.", fit, ["fit", "rank=7.txt"])
    'rank=7.txt does not exist. Pass --rank 7.'
    """
    own = sorted({text for text in typed if len(text) > 1}, key=len, reverse=True)
    if own and any(text in message for text in own):
        parts = re.split(f"({'|'.join(map(re.escape, own))})", message)
        return "".join(part if part in own else with_options(part, command) for part in parts)
    for option in options_of(command):
        name, said = re.escape(str(option.name)), max(option.opts, key=len)

        def with_value(found: re.Match[str], option: click.Option = option, said: str = said) -> str:
            value = found[1].strip("\"'")
            if value in ("None", "False"):
                return f"no {said}"
            return said if option.is_flag else f"{said} {value}"

        if option.is_flag:  # --symmetric is nonsymmetric=False
            message = re.sub(rf"\bnon{name}=False\b", said, message)
        message = re.sub(rf"(?<![\w.?&/-]){name}{_VALUE}", with_value, message)
        if "_" in name:
            message = re.sub(rf"(?<![\w.?&/'\"-]){name}(?![\w='\"]|\.\w)", said, message)  # name.csv is a file
        message = re.sub(rf"(^|\. ){name}(?= (?:{_SUBJECT})\b)", rf"\g<1>{said}", message)
    return message


def options_of(command: click.Command | None) -> Iterator[click.Option]:
    """The options of a command, and of those inside it, each name once; longer names first."""
    found = {str(option.name): option for option in _all(command)}
    return iter(sorted(found.values(), key=lambda option: -len(str(option.name))))


def _all(command: click.Command | None) -> Iterable[click.Option]:
    if command is None:
        return
    yield from (param for param in command.params if isinstance(param, click.Option))
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _all(inner)
