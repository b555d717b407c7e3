"""The Dockerfile, as far as it can be tried without Docker: its instructions, its paths, and the commands it runs."""

import json
import re
import shlex
import tomllib
from importlib.metadata import entry_points

import pytest

from docs_site import ROOT
from dpplearn.cli.serve import serve_command as serve

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
KNOWN = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}


def instructions():
    """(word, rest) of every instruction, lines that go on put together."""
    lines = "\n".join(line for line in TEXT.splitlines() if not line.startswith("#"))
    whole = lines.replace("\\\n", " ").splitlines()
    return [tuple(line.split(maxsplit=1)) for line in whole if line.strip()]


def test_instructions_and_stages():
    found = instructions()
    assert {word for word, _ in found} == KNOWN
    assert found[0][1].endswith(" AS build")
    last = [i for i, (word, _) in enumerate(found) if word == "FROM"][-1]
    final = found[last:]
    user = next(rest for word, rest in final if word == "USER")
    assert int(user) > 0  # a number that is not root, so that Kubernetes can tell
    assert [word for word, _ in final].index("USER") < [word for word, _ in final].index("ENTRYPOINT")
    assert ("COPY", "--from=build /opt/dpplearn /opt/dpplearn") in final


def test_what_is_copied_is_there_and_not_ignored():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for word, rest in instructions():
        if word == "COPY" and "--from" not in rest:
            for name in rest.split()[:-1]:
                assert (ROOT / name).exists(), name
                assert name in kept, f"{name} is left out by .dockerignore"


def test_the_extras_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = re.search(r"'\.\[(.*)\]'", TEXT)[1].split(",")
    assert set(asked) <= set(extras)


def test_the_entry_point_is_a_command_with_these_options():
    rest = next(rest for word, rest in instructions() if word == "ENTRYPOINT")
    program, name, *options = json.loads(rest)
    assert any(one.name == program for one in entry_points(group="console_scripts"))
    assert name == "serve"
    context = serve.make_context("serve", [*options, "--token", "0123456789abcdef"])
    assert (context.params["host"], context.params["port"]) == ("0.0.0.0", 8000)


@pytest.mark.parametrize("place", ["HEALTHCHECK"])
def test_python_that_it_runs_is_python(place):
    code = [shlex.split(rest) for word, rest in instructions() if word == place and " -c " in rest.replace('", "', " ")]
    found = [words[words.index("-c") + 1] for words in code if "-c" in words]
    found += [
        json.loads(rest[rest.index("[") :])[2] for word, rest in instructions() if word == place and "CMD" in rest
    ]
    assert found
    for one in found:
        compile(one, "Dockerfile", "exec")
        for module in re.findall(r"from ([\w.]+) import", one):
            __import__(module)
