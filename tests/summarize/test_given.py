"""Whatever people give to be summarized is told apart: text, path, bytes, address; and errors say what to do."""

import io
import os
from pathlib import Path

import pytest

import dpplearn
from dpplearn.summarize import Cluster, Document, Summarizer, read_clusters, summarize
from dpplearn.summarize.corpora.documents import as_cluster

STORM = "A storm sank ten boats in the harbour on Friday. Nobody was hurt. Schools stay closed on Monday."
RAIN = "Heavy rain fell in the valley. The river rose by two metres."


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "storm.txt").write_text(STORM)
    (tmp_path / "rain.html").write_text(f"<html><p>{RAIN}</p></html>")
    return tmp_path


def texts(given, **options):
    return [document.text for document in as_cluster(given, **options).documents]


def test_all_kinds_are_one_cluster(folder, monkeypatch):
    storm, rain = folder / "storm.txt", folder / "rain.html"
    assert texts(STORM) == [STORM]
    assert texts([STORM, RAIN]) == [STORM, RAIN]
    assert texts(one for one in (STORM, RAIN)) == [STORM, RAIN]
    assert texts(storm) == texts(str(storm)) == texts([storm]) == [STORM]
    assert texts(folder) == texts(str(folder)) == [RAIN, STORM]
    assert texts([storm, str(rain)]) == [STORM, RAIN]
    assert texts(str(folder / "*.txt")) == [STORM]
    assert texts(STORM.encode()) == texts(bytearray(STORM.encode())) == texts(memoryview(STORM.encode())) == [STORM]
    assert texts(rain.read_bytes()) == [RAIN]
    assert texts(Document("a", STORM)) == texts([Document("a", STORM)]) == [STORM]
    assert texts([storm, RAIN, STORM.encode(), Document("1", "More.")]) == [STORM, RAIN, STORM, "More."]  # mixed
    assert texts("Größe.".encode("latin-1"), encoding="latin-1") == ["Größe."]
    with pytest.raises(ValueError, match="give it by itself and name its encoding, such as cp1252"):
        texts("Größe.".encode("latin-1"))
    with pytest.raises(ValueError, match="is a table, not a document"):
        texts(Path("a.csv"))
    cluster = Cluster.example()
    assert as_cluster(cluster) is cluster
    assert as_cluster(RAIN, language="english").language == "english"
    monkeypatch.chdir(folder)
    assert texts("storm.txt") == [STORM]
    assert [document.id for document in as_cluster(["storm.txt", RAIN, RAIN]).documents] == ["storm.txt", "2", "3"]
    ids = [document.id for document in as_cluster(["storm.txt", Document("2", RAIN), RAIN, "Two. More."]).documents]
    assert len(ids) == len(set(ids)) == 4


def test_texts_that_might_be_taken_for_paths():
    for text in (
        "Rain!", "Rain fell.", "and/or rain",
        "He said: see the notes in storm.txt and in rain.txt, then write to all of us.",
        "A line.\nnotes.txt", "Read https://example.org/a.html for more.", "x" * 10_000, "What? [1] * 2", "..", "C: 5",
    ):  # fmt: skip
        if text != "..":  # a folder that is always there
            assert texts(text) == [text]
    for text in ("Rain", "and/or"):  # no text has one word: a mistyped folder
        with pytest.raises(FileNotFoundError, match="does not exist"):
            texts(text)


@pytest.mark.parametrize("given", ["a.txt", "my notes.md", "./storm", "/no/such/folder", "~/storm", "a.pdf", "x.GZ"])
def test_a_path_that_is_not_there_is_no_text(given):
    for whole in (given, [given], [RAIN, given], f"{given}\n"):
        with pytest.raises(FileNotFoundError, match="does not exist"):
            as_cluster(whole)
    assert as_cluster(Cluster.from_texts([given])).documents[0].text == given  # what the error advises


@pytest.mark.parametrize(
    "address",
    ["https://example.org/a.html", "http://example.org", "HTTPS://EXAMPLE.ORG/?q=1", "ftp://example.org/a.txt",
     "www.example.org", " www.example.org/a.pdf ", Path("https://example.org/a.html")],
)  # fmt: skip
def test_an_address_is_told_and_what_to_do(address, tmp_path):
    for given in (address, [address], [RAIN, address]):
        with pytest.raises(ValueError, match=r"downloads nothing.*save the page"):
            as_cluster(given)
    with pytest.raises(ValueError, match="downloads nothing"):
        Cluster.from_files(address)
    with pytest.raises(ValueError, match="downloads nothing"):
        read_clusters(address)
    saved = tmp_path / "page.html"  # what is advised works
    saved.write_text(f"<html><body><p>{STORM}</p></body></html>")
    assert texts(saved) == [STORM]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "found None"), (5, "found int"), (3.5, "found float"), ({"a": RAIN}, r"found dict.*list\(given.values"),
        ({RAIN}, "found set.*no order"), (io.StringIO(RAIN), r"found StringIO.*read\(\)"), (object(), "found object"),
        ([RAIN, None], "item 2 of the list is None"), ([[RAIN]], "item 1 of the list is list"),
        ([RAIN, 7], "item 2 of the list is int"), ([Cluster.example()], "each by itself"),
    ],
)  # fmt: skip
def test_what_is_none_of_these(given, message):
    with pytest.raises(TypeError, match=message):
        as_cluster(given)


@pytest.mark.parametrize("given", ["", "  \n ", [], (), iter(()), [""], ["", "\n"], b"", [b" "]])
def test_nothing(given):
    with pytest.raises(ValueError, match="nothing to summarize"):
        as_cluster(given)


def test_one_call_is_what_the_summarizer_says(folder, tmp_path):
    model = Summarizer.load()
    expected = model.summarize(Cluster.from_texts([STORM, RAIN]), 12, "words").text
    assert summarize([STORM, RAIN], 12).text == model.summarize([STORM, RAIN], 12, "words").text == expected
    assert summarize([STORM, RAIN], budget=12, unit="words", model=model).text == expected
    assert summarize(folder, "40%", decoder="greedy").unit == "words"
    (tmp_path / "models").mkdir()
    model.save(tmp_path / "models" / "model.json")
    assert summarize([STORM, RAIN], 12, model=tmp_path / "models" / "model.json").text == expected
    assert summarize(STORM.encode("utf-16"), 9, encoding="utf-16").text == summarize(STORM, 9).text
    assert model.summarize(folder / "storm.txt", 9, "words").text == summarize(STORM, 9).text
    assert dpplearn.summarize.summarize is summarize  # the package, and the function in it
    assert model.prepare(STORM).n == 3
    assert model.dpp(os.fspath(folder)).n == 5
