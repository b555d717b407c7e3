"""What people bring: each input of `inputs/`, summarized as on the command line, is held to `specs.toml`.

The sentences themselves are kept in `inputs/summaries.md`, for a reader in review.
"""

import re
from collections import Counter

import pytest

from golden_summaries import FOLDER, heading, input_path, kept, source, specs, summarize

SPECS = specs()
RUNS = [(name, options) for name, spec in SPECS.items() for options in spec["runs"]]
# Markup, table rows, time stamps and bare addresses: no line of any summary has them.
MARKUP = re.compile(
    r"\|| -->|```|\]\(|\*\*|</?[a-z]+[ >]|&[a-z]+;|^#|^https?://\S+$|^[-*•>] |^[\W\d_]*$", re.IGNORECASE
)


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    """Each summary is made once."""
    folder, made = tmp_path_factory.mktemp("inputs"), {}

    def of(name, options):
        if (name, options) not in made:
            made[name, options] = summarize(input_path(name, folder), options)
        return made[name, options]

    return of


def plain(line):
    """A line without its case, marks, bullets and numbers before and after."""
    return re.sub(r"^\W+|\W+$", "", line.casefold())


def problems(lines, spec):
    """What is wrong with a summary, in words."""
    text = "\n".join(lines).casefold()
    fragments = {plain(fragment) for fragment in spec.get("fragments", ())}
    found = [line for line in lines if plain(line) in fragments]
    yield from (f"markup: {line}" for line in lines if MARKUP.search(line))
    yield from (f"must not be in it: {never}" for never in spec.get("never", ()) if never.casefold() in text)
    if len(found) > spec.get("most_fragments", 0):
        yield from (f"no sentence: {line}" for line in found)
    for group in spec["some"]:
        if not any(one.casefold() in text for one in group):
            yield f"none of these is in it: {', '.join(group)}"
    yield from (f"twice: {line}" for line, n in Counter(map(plain, lines)).items() if n > 1)


@pytest.mark.parametrize(("name", "options"), RUNS)
def test_a_summary_has_what_it_must_have_and_nothing_else(name, options, summary):
    lines = summary(name, options)
    found = list(problems(lines, SPECS[name]))
    assert lines
    assert not found, "\n".join([*found, "in the summary:", *lines])


@pytest.mark.parametrize(("name", "options"), RUNS)
def test_a_budget_is_kept(name, options, summary):
    lines = summary(name, options)
    asked = re.search(r"--budget (\d+)", options)
    words = sum(len(line.split()) for line in lines)
    if "sentences" in options:  # every input has more of them
        assert len(lines) == int(asked[1])
    elif asked:
        assert words <= int(asked[1])
    else:
        files = [*source(name).iterdir()] if source(name).is_dir() else [source(name)]
        assert words <= 0.6 * sum(len(file.read_text("utf-8").split()) for file in files)


@pytest.mark.parametrize(("name", "options"), RUNS)
def test_summaries_are_those_that_were_read(name, options, summary):
    assert summary(name, options) == kept().get(heading(name, options)), (
        "The summary is not the one in tests/summarize/inputs/summaries.md. If the change is meant, run "
        "python scripts/golden.py, read what it changed, and commit the page."
    )


def test_every_input_has_a_spec_and_every_summary_a_run():
    made = {path.name.removesuffix(".md") if path.name.count(".") == 2 else path.name for path in FOLDER.iterdir()}
    assert made - {"specs.toml", "summaries.md"} == set(SPECS)
    assert set(kept()) == {heading(name, options) for name, options in RUNS}
