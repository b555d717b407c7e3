"""What a user reads first: few options, the same words in every command, help on one screen, the paper apart."""

import re

import click
import pytest
from click.testing import CliRunner

from commands import output, refusal
from dpplearn.cli import COMMANDS, OF_PAPER, load_command, main


def commands(group=None, name=""):
    """Every command that does something, by its full name."""
    for word, one in (group.commands if group else {w: load_command(w) for w in COMMANDS}).items():
        if isinstance(one, click.Group):
            yield from commands(one, f"{name}{word} ")
        else:
            yield f"{name}{word}", one


EVERY = dict(commands())


def test_options_are_few_and_words_mean_the_same_everywhere():
    """One help text for each of these, whatever the command; and none of the words that they replaced."""
    options = [option for one in (main, *EVERY.values()) for option in one.params if isinstance(option, click.Option)]
    assert len(options) <= 110
    found = {}
    for option in options:
        found.setdefault(max(option.opts, key=len), set()).add(option.help)
    for name in ("--jobs", "--diversity", "--scheduler", "--language", "--encoding", "--skip-bad"):
        assert len(found[name]) == 1, name
    assert not found.keys() & {"--workers", "--backend", "--resume", "--checkpoint", "--verbose", "--lang", "--method"}


@pytest.mark.parametrize("name", EVERY)
def test_help_fits_a_screen(name):
    lines = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=80).stdout.splitlines()
    assert 0 < len(lines) <= 36, "\n".join(lines)


def test_the_paper_stands_apart():
    ours, paper = output("--help").split("The paper:")
    assert re.findall(r"^  (\w+) ", paper, re.M) == list(OF_PAPER)
    shown = re.findall(r"^  (\w+) ", ours.split("Commands:")[1], re.M)
    assert shown == [name for name in COMMANDS if name not in OF_PAPER]


def test_an_error_names_the_file_that_was_typed():
    for name in ("order=asc.txt", "budget=3", "keep_all"):
        assert refusal("summarize", name).startswith(f"Error: {name} does not exist")
