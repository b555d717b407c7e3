"""One word for one thing: parameters, options and JSON properties keep to the table of words in the design.

FORBIDDEN has the words that are not used, each with the word to use; EXCEPTIONS those that mean something else where
they stand, each with the reason.
"""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from dpplearn.cli import COMMANDS, load_command, main

IMPORTED = ("", ".baskets", ".decoding", ".kernels", ".learning", ".mrf", ".plots", ".rouge", ".summarize")
BY_SOURCE = ("torch", "integrations")  # they need packages that may be missing
WORDS = {
    "subset": "indices chosen found picked",
    "include, exclude": "pins pinned banned",
    "given": "prior earlier known already",
    "groups": "exclusive",
    "names": "labels",
    "budget": "share limit bound",
    "decoder": "method strategy",
    "diversity": "lambda lambda_ tradeoff trade_off",
    "rng, random_state or --seed": "generator seed",
    "n_jobs or --jobs": "workers n_workers backend threads",
    "progress": "verbose quiet",
    "language": "lang",
    "level": "confidence",
    "work": "checkpoint resume",
}
FORBIDDEN = {word: say for say, words in WORDS.items() for word in words.split()}
EXCEPTIONS = {
    "sample(method)": "an exact sampler draws sets, and does not look for the best one",
    "log_likelihood(method)": "the sampler of the probabilities, as in sample",
    "sample(generator)": "a torch.Generator, under the name that torch gives it",
    "entropy(generator)": "a torch.Generator, under the name that torch gives it",
    "from_long(chosen)": "a column of the caller's table, which says what was chosen",
    "Subsets(indices)": "as in scipy's sparse matrices, with indptr",
    "Baskets(indices)": "as in scipy's sparse matrices, with indptr",
    "ConditionalDPP(backend)": "names a Dask cluster; how many processes work is n_jobs",
    "fit(backend)": "names a Dask cluster; how many processes work is n_jobs",
    "work_through(workers)": "the processes themselves, not their number",
    "sentences(limit)": "how many sentences are read at most, chosen or not",
    "candidates(limit)": "how many sentences are read at most, chosen or not",
    "of(found)": "what the search returned, with its reason and bound",
    "json(limit)": "the name of a server's limit that a request passes",
    "json(share)": "a measured share of the text, in an answer",
}


def public_parameters() -> Iterator[tuple[str, str]]:
    """The name of each public function, class or method, and of each of its parameters."""
    for room in IMPORTED:
        module = import_module(f"dpplearn{room}")
        for name in module.__all__:
            thing = getattr(module, name)
            members = [] if not inspect.isclass(thing) else [x for x in vars(thing) if not x.startswith("_")]
            for owner, call in [(name, thing), *((member, getattr(thing, member)) for member in members)]:
                if callable(call) and not (inspect.isclass(call) and issubclass(call, Exception)):
                    yield from ((owner, parameter) for parameter in inspect.signature(call).parameters)


def parameters_by_source() -> Iterator[tuple[str, str]]:
    for room in BY_SOURCE:
        for path in (Path(__file__).parents[1] / "src" / "dpplearn" / room).glob("[!_]*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                    yield from ((node.name, argument.arg) for argument in arguments)


def options() -> Iterator[tuple[str, str]]:
    commands: list[click.Command] = [load_command(name) for name in COMMANDS]
    commands += [inner for one in commands if isinstance(one, click.Group) for inner in one.commands.values()]
    for command in (main, *commands):
        for option in command.params:
            yield from ((str(command.name), name.lstrip("-").replace("-", "_")) for name in option.opts)


def properties() -> Iterator[tuple[str, str]]:
    """The names of all properties of the requests and answers of the API."""
    pytest.importorskip("fastapi")
    from dpplearn.web import create_app

    schemas = create_app().openapi()["components"]["schemas"].values()
    return (("json", name) for schema in schemas for name in schema.get("properties", ()))


@pytest.mark.parametrize("names", [public_parameters, parameters_by_source, options, properties])
def test_no_name_is_a_word_that_the_table_forbids(names):
    seen = set(names())
    assert len(seen) > 20
    wrong = {f"{owner}({name})": FORBIDDEN[name] for owner, name in seen if name in FORBIDDEN}
    assert {where: f"say {word}" for where, word in wrong.items() if where not in EXCEPTIONS} == {}
