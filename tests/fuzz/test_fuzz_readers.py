"""Readers take any bytes: they answer, or say what is wrong in a ValueError or OSError that names the file.

`make test` tries the same few examples each time; `make fuzz` new ones for an hour. What fails is written to found/,
the shortest example of each failure, and is tried again for ever: put it under version control with its fix.
"""

import hashlib
import io
import json
import zipfile
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pytest
from click import ClickException
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpplearn.cli import main
from dpplearn.learning import ConditionalDPP, ItemSet
from dpplearn.rouge.candidates import read_candidates, read_references
from dpplearn.rouge.reading import as_bytes
from dpplearn.summarize import Cluster, Document, Summarizer, read_clusters
from dpplearn.summarize.corpora.documents import DocumentFile, kind_of_file
from dpplearn.summarize.corpora.formats.apart import Apart, parse_here
from dpplearn.summarize.text.words import words
from markup_files import eml, mbox, rtf
from office_files import archive, docx, epub, odt
from patterns import PATTERNS
from pdf_files import pdf_article

FOUND = Path(__file__).parent / "found"
LITTLE = Cluster.from_texts(["It rained in Oslo. The river rose.", "Snow fell on 3 May. It was cold."])
RAW = {
    "@digits": "1" * 5000,
    "@exponent": "1e999",
    "@long": "7" * 400,
    "@flat": "[" * 99 + "]" * 99,
    "@deep": "[" * 2000 + "]" * 2000,
    "@abyss": '{"a":' * 100_000,
}


def use(cluster):
    for sentence in cluster.sentences(limit=None):
        words(sentence.text)


def read_corpus(path):
    for cluster in read_clusters(path):
        use(cluster)


def read_rouge(path):
    for texts in read_candidates(path).values():
        list(map(as_bytes, texts.values()))
    [as_bytes(text) for texts in read_references(path).values() for text in texts]


def run_select(path):
    """The command: an error is one line, and what it says no terminal obeys."""
    for more in ((), ("--embedding", "embedding"), ("--text", "text", "--explain")):
        done = CliRunner().invoke(main, ["select", str(path), "-k", "2", *more], standalone_mode=False)
        assert "\x1b" not in done.stderr
        if isinstance(done.exception, ClickException):
            assert "\x1b" not in done.exception.message
            raise ValueError(done.exception.message)
        if done.exception is not None:
            raise done.exception


def load_conditional(path):
    ConditionalDPP.load(path).marginals(ItemSet(np.eye(3, 2), np.eye(3)))


def load_summarizer(path):
    Summarizer.load(path).summarize(LITTLE, budget=8, unit="words")


def conditional():
    model = ConditionalDPP.from_weights([0.5, -1.0], theta_std=[0.1, 0.2], rho=0.3, names=["a", "b"])
    return saved(model)


def summarizer():
    model = saved(Summarizer.load())
    model["idf"]["counts"] = dict(list(model["idf"]["counts"].items())[:5])
    return model


def saved(model):
    with TemporaryDirectory() as folder:
        path = Path(folder, "valid.json")
        model.save(path)
        return json.loads(path.read_text(encoding="utf-8"))


CLUSTER = {
    "id": "a",
    "lang": "en",
    "split": "x",
    "reference_ids": ["r"],
    "references": ["It rained."],
    "documents": [{"id": "1", "title": "Rain", "text": "It rained. The river rose.", "date": None}, "Snow."],
}
ITEM = {"text": "rain in Oslo", "score": 0.5, "embedding": [1.0, 0.5], "more": {"a": [1]}}
SCORED = {"id": "a", "system": "s", "summary": ["It rained.", "It did."], "references": ["Rain.", ["It", "rained"]]}

text = st.lists(
    st.sampled_from(PATTERNS)
    | st.text(max_size=8)
    | st.builds(str.__mul__, st.sampled_from(PATTERNS), st.integers(2, 99)),
    max_size=20,
).map("".join)
texts = text.map(lambda x: x.encode("utf-8", "surrogatepass")) | st.binary(max_size=99)
values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.just(10**400)
    | st.sampled_from([*RAW, "", "a", "nan"])
    | st.builds(list)
    | st.builds(dict)
    | st.lists(st.integers(-1, 2), max_size=3)
    | text
)


@st.composite
def mutants(draw, valid):
    """A value with some of its parts replaced or taken away, as JSON; numbers and depths that JSON can write, too."""
    data = deepcopy(valid)
    for _ in range(draw(st.integers(0, 3))):
        node = data
        while node:
            key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
            if isinstance(node[key], dict | list) and draw(st.booleans()):
                node = node[key]
            elif draw(st.integers(0, 5)):
                node[key] = draw(values)
                break
            else:
                del node[key]
                break
    line = json.dumps(data, ensure_ascii=draw(st.booleans()))
    for name, raw in RAW.items():
        line = line.replace(f'"{name}"', raw)
    return line.encode("utf-8", "surrogatepass")


def lines(valid):
    return st.lists(mutants(valid) | texts, max_size=3).map(b"\n".join)


def cells(valid):
    head = ",".join(valid).encode() + b"\n"
    row = st.lists(values.map(str) | text, min_size=3, max_size=4).map(",".join)
    return st.lists(row, max_size=3).map(lambda rows: head + "\n".join(rows).encode("utf-8", "surrogatepass"))


class Target(NamedTuple):
    """What is tried: the name of the file, what reads it, and what is in it."""

    name: str
    read: object
    data: st.SearchStrategy[bytes]


def documents(path):
    use(Cluster.from_files(path))


def parsed(path):
    """In this process."""
    file = DocumentFile(path.read_bytes(), path.name, path)
    kind = kind_of_file(file)
    if not isinstance(kind.parse, Apart):
        return documents(path)
    found, _ = json.loads(parse_here(kind.parse.function, file))
    return use(Cluster([Document(**one) for one in found]))


@st.composite
def damaged(draw, valid):
    """The bytes of a file, some of them others, missing or twice there."""
    data = bytearray(valid)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(at + draw(st.integers(0, 40)), len(data))
        data[at:end] = draw(
            st.sampled_from([b"", bytes(data[at:end]) * 20, b"\0" * 9, b"1" + b"0" * 20, b"-1"]) | st.binary(max_size=9)
        )
    return bytes(data)


def packed(write, part):
    """An archive with one of its parts damaged inside: what is damaged outside seldom unpacks."""
    with zipfile.ZipFile(io.BytesIO(write)) as held:
        members = {name: held.read(name) for name in held.namelist()}
    inside = damaged(members[part]) | texts
    return damaged(write) | inside.map(lambda data: archive({**members, part: data}))


KINDS_OF_BLOCKS = [("title", "Rain"), ("heading", "May"), ("paragraph", "It rained. The river rose."), ("item", "Wet")]
KINDS_OF_BLOCKS += [("row", ["a", "b"]), ("footnote", "See there."), ("caption", "Figure 1: Rain")]
MAIL = eml("It rained.\n\nOn Monday, Ann wrote:\n> Did it?\n-- \nBob", Content_Language="en")
opened = texts.map(b"<DOC><DOCNO>a</DOCNO><TEXT>".__add__)
TARGETS = {
    "text": Target("a.txt", documents, texts),
    "markdown": Target("a.md", documents, texts),
    "html": Target("a.html", documents, texts),
    "sgml": Target("a.sgml", documents, opened),
    "pdf": Target("a.pdf", parsed, damaged(pdf_article(KINDS_OF_BLOCKS * 3, "Rain", columns=2, metadata="Rain"))),
    "docx": Target("a.docx", parsed, packed(docx(KINDS_OF_BLOCKS), "word/document.xml")),
    "odt": Target("a.odt", parsed, packed(odt(KINDS_OF_BLOCKS), "content.xml")),
    "epub": Target("a.epub", parsed, packed(epub({"a.xhtml": KINDS_OF_BLOCKS}), "OEBPS/book.opf")),
    "rtf": Target(
        "a.rtf", parsed, damaged(rtf(KINDS_OF_BLOCKS, title="x")) | texts.map(lambda x: rb"{\rtf1 " + x + b"}")
    ),
    "eml": Target("a.eml", parsed, damaged(MAIL) | texts),
    "mbox": Target("a.mbox", parsed, damaged(mbox([MAIL, MAIL]))),
    "duc": Target("d30001t/APW1", lambda path: read_corpus(path.parents[1]), opened),
    "duc-model": Target("D30001.M.100.T.A", lambda path: read_corpus(path.parent), texts),
    "corpus": Target("a.jsonl", read_corpus, lines(CLUSTER)),
    "rouge": Target("a.jsonl", read_rouge, lines(SCORED)),
    "rouge-folder": Target("a/t.txt", lambda path: read_rouge(path.parent), texts),
    "select": Target("a.jsonl", run_select, lines(ITEM)),
    "select-csv": Target("a.csv", run_select, texts | cells({"text": 1, "score": 1, "embedding": 1})),
    "conditional": Target("a.json", load_conditional, mutants(conditional())),
    "summarizer": Target("a.json", load_summarizer, mutants(summarizer())),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def assert_read_or_named(name, data, folder):
    target = TARGETS[name]
    path = folder / name / target.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if name == "duc-model":
        (folder / name / "d30001t").mkdir(exist_ok=True)
        (folder / name / "d30001t" / "APW1").write_text("<DOC><TEXT>It rained.")
    try:
        target.read(path)
    except (ValueError, OSError) as error:
        if str(folder) not in str(error) and "no sentence" not in str(error):
            raise AssertionError(f"names no file: {error!r:.500}") from error


@pytest.mark.filterwarnings("ignore::UserWarning")  # what is in another language, or is left out
@pytest.mark.parametrize("name", TARGETS)
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_bytes(name, data, folder):
    given = data.draw(TARGETS[name].data)
    try:
        assert_read_or_named(name, given, folder)
    except Exception as error:  # hypothesis tries shorter and shorter ones; the last stays
        place = error.__traceback__
        while place.tb_next:
            place = place.tb_next
        kind = f"{type(error).__name__} {place.tb_frame.f_code.co_qualname} {place.tb_lineno}"
        (FOUND / f"{name}.{hashlib.sha256(kind.encode()).hexdigest()[:8]}").write_bytes(given)
        raise


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("file", sorted(FOUND.iterdir()), ids=lambda x: x.name)
def test_what_was_found(file, folder):
    assert_read_or_named(file.name.partition(".")[0], file.read_bytes(), folder)
