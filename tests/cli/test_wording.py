"""Errors of commands name options; what only looks like an argument stays."""

import ast
import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import dpplearn
from dpplearn.cli import main
from dpplearn.cli.wording import with_options
from dpplearn.summarize.experiments.systems import Models

OPTION = re.compile(r"(?<![\w(-])--[a-z]{2,}")
FIT = click.Command(
    "fit",
    params=[
        *(click.Option([name]) for name in ("--rank", "--max-per-group", "--text", "--checkpoint")),
        click.Option(["--keep-all"], is_flag=True),
        click.Option(["--references", "only"]),
        click.Argument(["model"]),
    ],
)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("rank must be 3 or more.", "--rank must be 3 or more."),
        ("It is too small. rank must grow.", "It is too small. --rank must grow."),
        ("Pass rank=7, or less.", "Pass --rank 7, or less."),
        ("found max_per_group=2.5.", "found --max-per-group 2.5."),
        ('with text="body" and keep_all=True', "with --text body and --keep-all"),
        ("pass rank=None.", "pass no --rank."),
        ("the rank must be 3", "the rank must be 3"),
        ("items.jsonl, line 3: text must be a text.", "items.jsonl, line 3: text must be a text."),  # a field
        ("model must be fitted, only must", "model must be fitted, only must"),
        ("Raise max_per_group, or rank.", "Raise --max-per-group, or rank."),
        ("the field 'max_per_group' is missing", "the field 'max_per_group' is missing"),
        ("max_per_group.csv is empty. Raise max_per_group.", "max_per_group.csv is empty. Raise --max-per-group."),
        ("pass nonkeep_all=False", "pass --keep-all"),
        ("low_rank=3 and ranks=4", "low_rank=3 and ranks=4"),
    ],
)
def test_arguments_become_options(said, shown):
    assert with_options(said, FIT) == shown
    assert with_options(said, None) == said


def test_commands_do_so(tmp_path):
    (tmp_path / "a.txt").write_text("It rained in Brenn. Ten boats sank.")
    for arguments, said in (
        (["summarize", tmp_path / "a.txt", "--about", "?"], "Error: --about must have a word"),
        (["summarize", tmp_path / "a.txt", "--budget", "-3"], "--budget must"),
    ):
        result = CliRunner().invoke(main, [*map(str, arguments)])
        assert result.exit_code in (1, 2)
        assert said in result.stderr


@pytest.mark.parametrize("room", ["summarize/experiments", "plots", "decoding", "learning"])
def test_messages_of_the_library_name_no_option_alone(room):
    """Who calls it from Python has none; the command line says them in its own words. Both may be named together."""
    for path in sorted((Path(dpplearn.__file__).parent / room).rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        kinds = (ast.Module, ast.FunctionDef, ast.ClassDef)
        docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, kinds) and is_text(node.body[0])}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        said = [node.value for node in texts if id(node) not in docs and OPTION.search(node.value)]
        assert said == [], path


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_what_lacks_a_corpus_to_learn_from_is_said_by_option(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"id": "a", "documents": ["Rain fell. It was wet."], "references": ["Rain."]}) + "\n")
    found = CliRunner().invoke(main, ["evaluate", str(path), "--systems", "lr-mmr"])
    assert "--train CORPUS" in found.stderr
    with pytest.raises(ValueError, match="train=CORPUS"):
        Models(None).regression("lr-mmr")
