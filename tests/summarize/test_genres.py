"""Minutes, chats, mails, release notes, papers, reviews and laws: what their summaries tell, by `genres/facts.toml`."""

import re
import tomllib
from pathlib import Path

import pytest

from dpplearn.summarize import Cluster, Document, Summarizer

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


def test_a_mail_tells_its_facts_not_what_will_be_sent(summarizer):
    fact = "On 5 March our lab found fluoride in the Lorne, four times as much as the law allows."
    mail = Document("m.eml", f"The results are in. {fact} We will send you the full report next week.")
    assert summarizer.summarize([mail]).text == fact
    assert not summarizer.prepare(Cluster([mail, Document("a", fact)])).split.alone[1]


def test_every_document_has_a_case():
    assert {path.name for path in FOLDER.iterdir()} - {"facts.toml"} == set(CASES)
