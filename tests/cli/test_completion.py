"""Shell completion is click's: what it offers of commands, options and values."""

from click.shell_completion import get_completion_class

from dpplearn.cli import COMMANDS, main


def complete(*words):
    """What the script asks for, with the last word begun."""
    kind = get_completion_class("bash")
    return [
        one.value for one in kind(main, {}, "dpplearn", "_DPPLEARN_COMPLETE").get_completions([*words[:-1]], words[-1])
    ]


def test_commands_options_and_values_are_completed():
    assert complete("") == sorted(COMMANDS)
    assert complete("summarize", "--ex") == ["--explain"]
    assert complete("summarize", "--decoder", "gr") == ["greedy"]
