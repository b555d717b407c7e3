"""The Dockerfile, as far as it can be tried without Docker: its user, its files, and the commands it runs."""

import json
import re
import tomllib

from docs_site import ROOT
from dpplearn.cli.serve import serve_command as serve

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES = "\n".join(line for line in TEXT.splitlines() if not line.startswith("#")).replace("\\\n", " ").splitlines()
INSTRUCTIONS = [tuple(line.split(maxsplit=1)) for line in LINES if line.strip()]  # (word, rest)


def test_it_runs_as_a_user_who_is_not_root():
    words = [word for word, _ in INSTRUCTIONS]
    assert int(dict(INSTRUCTIONS)["USER"]) > 0  # a number, so that Kubernetes can tell
    assert words.index("USER") < words.index("ENTRYPOINT")


def test_what_it_copies_is_there_and_not_ignored():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = [rest.split()[:-1] for word, rest in INSTRUCTIONS if word == "COPY" and "--from" not in rest]
    for name in [name for names in copies for name in names]:
        assert (ROOT / name).exists(), name
        assert name in kept, f"{name} is left out by .dockerignore"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*re.search(r"'\.\[(.*)\]'", TEXT)[1].split(",")} <= set(extras)


def test_its_commands_are_commands():
    _, name, *options = json.loads(dict(INSTRUCTIONS)["ENTRYPOINT"])
    assert name == "serve"
    context = serve.make_context("serve", [*options, "--token", "0123456789abcdef"])
    assert (context.params["host"], context.params["port"]) == ("0.0.0.0", 8000)
    health = dict(INSTRUCTIONS)["HEALTHCHECK"]
    compile(json.loads(health[health.index("[") :])[2], "Dockerfile", "exec")
