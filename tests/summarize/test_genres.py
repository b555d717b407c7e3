"""Minutes, chats, mails, release notes, papers, reviews and laws: what their summaries tell, by `genres/facts.toml`."""

import re
import tomllib
from pathlib import Path

import pytest

from dpplearn.summarize import Cluster, Summarizer

FOLDER = Path(__file__).parent / "genres"
CASES = tomllib.loads((FOLDER / "facts.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def summarizer():
    return Summarizer.load()


@pytest.mark.parametrize("name", CASES)
def test_a_summary_tells_the_facts_of_its_kind(name, summarizer):
    """As many of the facts as it tells today, and of what must not be in it no more than today."""
    case, path = CASES[name], FOLDER / name
    cluster = Cluster.from_files(sorted(path.iterdir()) if path.is_dir() else [path])
    text = "\n".join(one.text for one in summarizer.summarize(cluster, budget=case["words"]).sentences)
    missing = [fact for fact in case["facts"] if not re.search(fact, text, re.IGNORECASE)]
    wrong = [one for one in case["never"] if re.search(one, text, re.IGNORECASE | re.MULTILINE)]
    assert len(text.split()) <= case["words"]
    assert len(case["facts"]) - len(missing) >= case["least"], f"missing: {missing}\n{text}"
    assert len(wrong) <= case.get("wrong", 0), f"in it: {wrong}\n{text}"


def test_every_document_has_a_case():
    assert {path.name for path in FOLDER.iterdir()} - {"facts.toml"} == set(CASES)
