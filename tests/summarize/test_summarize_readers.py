"""Corpora in every layout, from small files of our own."""

import gzip
import re
import warnings

import pytest
from click.testing import CliRunner

from commands import write
from corpus_files import RAIN, lines
from dpplearn._io.encoding import MAX_BYTES
from dpplearn.cli import main
from dpplearn.summarize import Cluster, Document, SkippedWarning, read_clusters
from dpplearn.summarize.corpora import documents, reading
from dpplearn.summarize.corpora.documents import FileKind, parse_document
from dpplearn.summarize.corpora.reading import Reader
from dpplearn.summarize.corpora.source import Item

SNOW = {
    "id": "snow",
    "lang": "english",
    "documents": [{"id": "b", "text": "It snowed."}],
    "references": ["Snow.", ["A", "B"]],
}


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz", "corpus.json", "corpus.data"])
def test_json_lines(tmp_path, name):
    known = RAIN | {"split": "test", "references": ["x"], "reference_ids": ["A"], "id": 7}
    data = ("\ufeff" + lines(RAIN, "", SNOW, known)).encode()
    rain, snow, kept = read_clusters(write(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data))
    assert (kept.id, kept.split, kept.reference_ids) == ("7", "test", ("A",))
    assert (rain.id, rain.references, rain.language) == ("rain", (), None)
    document = rain.documents[0]
    assert (document.id, document.title, document.date, document.role) == ("a", "Rain", "2004", "news")
    assert (snow.language, snow.references) == ("english", ("Snow.", "A\nB"))


BROKEN = [
    ("{", r"line 2 must be a JSON object, but at column 2"),
    ("[1]", r"line 2 must be a JSON object, but is \[1\]"),
    ("[" * 100_000, r"line 2 must be a JSON object, but is nested too deeply"),
    ({"id": "x"}, r'line 2, field "documents": must be a list with a document, but is missing'),
    ({"id": "x", "documents": []}, r'line 2, field "documents"'),
    ({"id": "x", "documents": [3]}, r'line 2, field "documents\[0\]": must be an object'),
    ({"id": "x", "documents": [{"id": "a"}]}, r'line 2, field "documents\[0\].text": must be a string, but is missing'),
    ({"id": "x", "documents": [{"text": "a", "title": 3}]}, r'line 2, field "documents\[0\].title"'),
    ({"id": "x", "documents": [{"text": "a", "id": []}]}, r'line 2, field "documents\[0\].id"'),
    (
        {"id": "x", "documents": [{"text": "a", "id": 1}, {"text": "a", "id": "1"}]},
        r"line 2, documents of cluster x must have different ids, but '1' occurs twice",
    ),
    ({"id": None, "documents": ["a"]}, r'line 2, field "id": must be a string or a number, but is null'),
    ({"id": "rain", "documents": ["a"]}, r'line 2, field "id": \'rain\' is already the id of line 1'),
    ({"id": "x", "documents": ["a"], "references": "b"}, r'line 2, field "references": must be a list'),
    ({"id": "x", "documents": ["a"], "references": [1]}, r'line 2, field "references\[0\]": must be a text'),
    ({"id": "x", "documents": ["a"], "lang": 1}, r'line 2, field "lang"'),
    ({"id": "x", "documents": ["a"], "reference_ids": 1}, r'line 2, field "reference_ids"'),
]


@pytest.mark.parametrize(("bad", "message"), BROKEN, ids=[message[:40] for _, message in BROKEN])
def test_broken_lines_are_named_or_skipped(tmp_path, bad, message):
    path = write(tmp_path / "c.jsonl", lines(RAIN, bad, SNOW))
    with pytest.raises(ValueError, match=rf"c\.jsonl, .*{message}|{message}"):
        read_clusters(path)
    with pytest.warns(SkippedWarning, match=r"skipped 1 .*, kept 2 clusters.*line 2"):
        assert [cluster.id for cluster in read_clusters(path, skip_bad=True)] == ["rain", "snow"]


def test_nothing_is_skipped_without_a_word(tmp_path):
    path = write(tmp_path / "c.jsonl", lines(RAIN, *["{"] * 8))
    with pytest.warns(SkippedWarning, match=r"skipped 8 .*; and 3 more"):
        read_clusters(path, skip_bad=True)
    with pytest.warns(SkippedWarning), pytest.raises(ValueError, match="holds no cluster that can be read"):
        read_clusters(write(path, "{\n"), skip_bad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_clusters(write(path, lines(RAIN)), skip_bad=True)


def test_a_folder_of_folders(tmp_path):
    write(tmp_path / "README.md", "About this corpus.")
    write(tmp_path / "storm/b.md", "# Storm\n\nIt *blew*.")
    write(tmp_path / "storm/a.txt", "Wind\n8 May 2004\n\nIt blew hard.")
    write(tmp_path / "storm/c.html", "<title>Gale</title><p>It howled &amp; roared.")
    write(tmp_path / "storm/d.txt.gz", gzip.compress(b"It stopped."))
    write(tmp_path / "storm/notes.xyz", b"%PDF")
    write(tmp_path / "storm/.DS_Store", b"\0\0")
    write(tmp_path / "storm/references/2.txt", "Second.\n")
    write(tmp_path / "storm/references/1.txt", "First.\nOf two.\n")
    write(tmp_path / "flood/docs/x.txt", "It rose.")
    with pytest.warns(SkippedWarning, match=r"^Left out 1 file of another kind \(.*notes\.xyz\)\. Documents are \.txt"):
        flood, storm = read_clusters(tmp_path)
    assert (flood.id, flood.documents[0].id, flood.references) == ("flood", "x.txt", ())
    assert storm.references == ("First.\nOf two.", "Second.")
    assert [(d.id, d.title, d.date, d.text) for d in storm.documents] == [
        ("a.txt", "Wind", "8 May 2004", "It blew hard."),
        ("b.md", "Storm", None, "It blew."),
        ("c.html", "Gale", None, "It howled & roared."),
        ("d.txt", None, None, "It stopped."),
    ]


def test_files_left_out_are_named_once(tmp_path):
    """From both readers: how many, and the first few; hidden files and what describes the folder are no matter."""
    for name in ("a/en.txt", "b/en.txt", "b/references/r"):
        write(tmp_path / name, "It rained all day.")
    for name in ("a/README", "a/.DS_Store", "a/.hidden.bin", "corpus.json"):
        write(tmp_path / name, b"\0")
    assert len(read_clusters(tmp_path)) == 2
    assert len(Cluster.from_files(tmp_path / "a").documents) == 1
    for name in ("a/1.xyz", "a/2.bin", "a/3.xlsx", "a/4.jsonl", "a/5", "b/references/r.xyz"):
        write(tmp_path / name, b"\0")
    write(tmp_path / "a/blank.txt", " \n--\n")
    for read, where, number in ((read_clusters, tmp_path, 6), (Cluster.from_files, tmp_path / "a", 5)):
        with pytest.warns(SkippedWarning) as caught:
            read(where)
        [one] = caught
        shown = ", ".join(str(tmp_path / "a" / name) for name in ("1.xyz", "2.bin", "3.xlsx"))
        assert f"Left out {number} files of another kind ({shown} and {number - 3} more) and " in str(one.message)
        assert f" and 1 file without text ({tmp_path / 'a/blank.txt'})." in str(one.message)
        assert one.filename == __file__  # the line of the caller, not of the library
    with pytest.warns(SkippedWarning, match=r"^Left out 1 file without text \(.*blank\.txt\)\.$"):
        kept = Cluster.from_files([tmp_path / "a/blank.txt", tmp_path / "a/en.txt"])
    assert [document.id for document in kept.documents] == ["en.txt"]
    Cluster.from_files(tmp_path / "a/blank.txt")  # alone: an error where it is used


def test_folders_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        read_clusters(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="holds no cluster"):
        read_clusters(tmp_path)
    write(tmp_path / "notes.csv", "a,b")
    with pytest.raises(ValueError, match="holds no cluster"):
        read_clusters(tmp_path)
    with pytest.raises(ValueError, match=r"notes\.csv must be .*JSON Lines file.*Cluster\.from_files"):
        read_clusters(tmp_path / "notes.csv")
    with pytest.raises(ValueError, match=r"e\.jsonl holds no cluster"):
        read_clusters(write(tmp_path / "e.jsonl", ""))
    with pytest.raises(ValueError, match=r"whole gzip file"):
        read_clusters(write(tmp_path / "g.jsonl.gz", gzip.compress(b"{}" * 99)[:-9]))
    write(tmp_path / "storm/a.txt", "It blew.")
    write(tmp_path / "b.txt", "It blew.")
    with pytest.raises(ValueError, match=r"but holds both: the folder storm and the file b\.txt"):
        read_clusters(tmp_path)


def test_bad_documents_of_a_folder_can_be_skipped(tmp_path):
    write(tmp_path / "storm/a.txt", "It blew.")
    write(tmp_path / "storm/b.txt", b"\x89PNG\0\0")
    write(tmp_path / "flood/c.txt", b"caf\xe9")
    with pytest.raises(ValueError, match=r"c\.txt is not valid utf-8: byte 3 \(0xe9\).*such as cp1252"):
        read_clusters(tmp_path)
    with pytest.warns(SkippedWarning, match=r"skipped 2 .*kept 1 clusters.*c\.txt.*b\.txt must be a text file"):
        (cluster,) = read_clusters(tmp_path, skip_bad=True)
    assert [document.id for document in cluster.documents] == ["a.txt"]


def test_files_of_one_cluster(tmp_path):
    a, b = write(tmp_path / "x/a.txt", "One."), write(tmp_path / "y/a.txt", "Two.")
    write(tmp_path / "x/b.txt", "Three.")
    assert [d.id for d in Cluster.from_files(a).documents] == ["a.txt"]
    assert [d.id for d in Cluster.from_files([a, a]).documents] == ["a.txt"]
    assert [d.id for d in Cluster.from_files([a, str(b)]).documents] == [str(a), str(b)]
    assert [d.text for d in Cluster.from_files(f"{tmp_path}/x/*.txt").documents] == ["One.", "Three."]
    assert [d.text for d in Cluster.from_files(tmp_path / "x").documents] == ["One.", "Three."]
    odd = write(tmp_path / "[1] notes", "Four.")
    assert Cluster.from_files(str(odd), id="n").documents[0].text == "Four."
    assert Cluster.from_files(write(tmp_path / "e.txt", "")).sentences() == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text\0text", r"must be a text file, but is binary: byte 4 is 0"),
        (b"%PDF-1.4 ...", r"is cut off: the end of the PDF file"),
        (b"PK\x03\x04...", r"it is damaged"),
        (b"na\xefve", r"not valid utf-8: byte 2 \(0xef\)"),
        (b"\x1f\x8bnot gzip", r"cannot be unpacked"),
        (b"a" * (MAX_BYTES + 1), r"must hold at most 32 MB, but is longer"),
        (gzip.compress(b"a" * (MAX_BYTES + 1), mtime=0), r"must hold at most 32 MB, but is longer"),
    ],
    ids=["nul", "pdf", "zip", "latin-1", "gzip", "long", "bomb"],
)
def test_files_that_are_refused_are_named(tmp_path, content, message):
    path = write(tmp_path / "bad.txt", content)
    with pytest.raises(ValueError, match=rf"bad\.txt.*{message}"):
        Cluster.from_files(path)


def test_a_new_format_of_corpora_is_one_entry(tmp_path, monkeypatch):
    """The recipe of CONTRIBUTING.md, and a bad line of such a corpus."""

    def read_table(source):
        for number, line in enumerate(source.path.read_text(source.encoding or "utf-8").splitlines(), 1):
            with source.tolerate(f"line {number}: "):
                name, text, reference = line.split("\t")
                yield Item(Cluster([Document("1", text)], [reference], name))

    table = Reader("a table with the columns id, text, reference", lambda path: path.suffix == ".tsv", read_table)
    monkeypatch.setattr(reading, "READERS", [table, *reading.READERS])
    row = "{}\tIt rained all night. The river rose by two metres. Boats sank.\tThe river rose.\n"
    path = write(tmp_path / "floods.tsv", row.format("first") + row.format("second"))
    assert [cluster.id for cluster in read_clusters(path)] == ["first", "second"]
    write(path, row.format("first") + "second\n" + row.format("third"))
    with pytest.raises(ValueError, match="line 2: not enough values"):
        read_clusters(path)
    with pytest.warns(SkippedWarning, match="line 2: not enough values"):
        assert len(read_clusters(path, skip_bad=True)) == 2
    with pytest.raises(ValueError, match="a table with the columns"):
        read_clusters(write(tmp_path / "notes.csv", "x"))


def test_a_new_kind_of_files_is_one_entry(tmp_path, monkeypatch):
    lyrics = FileKind(
        "lyrics",
        (".lrc",),
        lambda file: [Document(file.name, " ".join(line[10:] for line in file.text().splitlines()))],
        re.compile(r"\[[0-9:.]{8}\]"),
    )
    monkeypatch.setattr(documents, "FILE_KINDS", [*documents.FILE_KINDS, lyrics])
    text = "[00:01.00]The river rose.\n[00:03.00]Boats sank.\n"
    folder = write(tmp_path / "song/a.lrc", text).parent
    assert Cluster.from_files(folder).documents[0].text == "The river rose. Boats sank."
    assert read_clusters(folder)[0].documents[0].id == "a.lrc"
    found = CliRunner().invoke(main, ["summarize", str(folder), "--budget", "2", "--unit", "sentences"])
    assert found.stdout == "The river rose.\nBoats sank.\n"
    told = parse_document(text.encode(), "notes.txt", "notes.txt")  # by how it begins
    assert [sentence.text for sentence in Cluster(told).sentences()] == ["The river rose.", "Boats sank."]
