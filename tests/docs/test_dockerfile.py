"""The Dockerfile, as far as it can be tried without Docker: its stages, its paths, and the commands it runs."""

import json
import re
import tomllib
from importlib.metadata import entry_points

from docs_site import ROOT
from dpplearn.cli.serve import serve_command as serve

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions():
    """(word, rest) of every instruction, lines that go on put together."""
    lines = "\n".join(line for line in TEXT.splitlines() if not line.startswith("#"))
    return [tuple(line.split(maxsplit=1)) for line in lines.replace("\\\n", " ").splitlines() if line.strip()]


def test_the_last_stage_runs_as_somebody_who_is_not_root():
    found = instructions()
    last = found[[i for i, (word, _) in enumerate(found) if word == "FROM"][-1] :]
    words = [word for word, _ in last]
    assert int(dict(last)["USER"]) > 0  # a number, so that Kubernetes can tell
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert ("COPY", "--from=build /opt/dpplearn /opt/dpplearn") in last


def test_what_is_copied_is_there_and_not_ignored():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for word, rest in instructions():
        if word == "COPY" and "--from" not in rest:
            for name in rest.split()[:-1]:
                assert (ROOT / name).exists(), name
                assert name in kept, f"{name} is left out by .dockerignore"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*re.search(r"'\.\[(.*)\]'", TEXT)[1].split(",")} <= set(extras)


def test_the_commands_are_commands():
    rest = dict(instructions())
    program, name, *options = json.loads(rest["ENTRYPOINT"])
    assert any(one.name == program for one in entry_points(group="console_scripts"))
    assert name == "serve"
    context = serve.make_context("serve", [*options, "--token", "0123456789abcdef"])
    assert (context.params["host"], context.params["port"]) == ("0.0.0.0", 8000)
    code = json.loads(rest["HEALTHCHECK"][rest["HEALTHCHECK"].index("[") :])[2]
    compile(code, "Dockerfile", "exec")
    for module in re.findall(r"from ([\w.]+) import", code):
        __import__(module)
