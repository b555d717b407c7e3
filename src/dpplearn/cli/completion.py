"""dpplearn completion: what makes a shell complete commands, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from dpplearn.cli import main

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script that makes SHELL complete what dpplearn takes.

    \b
    bash, in ~/.bashrc:                    eval "$(dpplearn completion bash)"
    zsh, in ~/.zshrc:                      eval "$(dpplearn completion zsh)"
    fish, in ~/.config/fish/config.fish:   dpplearn completion fish | source

    The script asks dpplearn itself, so it knows the options of the version that is installed.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click knows all three
    made = kind(main, {}, "dpplearn", "_DPPLEARN_COMPLETE")
    click.echo(made.source_template % made.source_vars())  # without click's own question for the version of bash
