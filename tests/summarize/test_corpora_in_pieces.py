"""Corpora as streams: the same clusters in pieces, whatever the kind of files, and told from others."""

import gzip
import pickle

import pytest

from commands import write
from corpus_files import RAIN, lines
from dpplearn.summarize import SkippedWarning, open_corpus, read_clusters


def made_up(n):
    return [RAIN | {"id": f"c{k}", "references": ["Rain."], "language": ("english", "german")[k % 2]} for k in range(n)]


def as_kind(kind, folder, records):
    """The same clusters in another kind of files."""
    if kind == "pattern":
        for k in range(0, len(records), 40):
            write(folder / "shards" / f"{k:04d}.jsonl", lines(*records[k : k + 40]))
        return folder / "shards" / "*.jsonl"
    data = lines(*records).encode()
    return write(folder / f"c.{kind}", gzip.compress(data) if kind == "jsonl.gz" else data)


KINDS = ("jsonl", "jsonl.gz", "pattern")


@pytest.mark.parametrize("kind", KINDS)
def test_a_corpus_is_the_same_in_pieces(tmp_path, kind):
    """All clusters in order, each in one piece; a piece is read alone, also by another process, and again."""
    path = as_kind(kind, tmp_path, made_up(120))
    corpus = open_corpus(path, language="german")
    assert [one.id for one in corpus] == [f"c{k}" for k in range(1, 120, 2)]
    pieces = list(corpus.pieces(corpus.notes()))
    assert len(pieces) == 64 + 6 if kind != "pattern" else len(pieces) > 64
    assert [piece.number for piece in pieces] == list(range(len(pieces)))
    sent = pickle.dumps(pieces)  # of a packed file the lines are sent, else only where they are
    assert (b"It rained" in sent) == (kind == "jsonl.gz")
    alone = [pickle.loads(pickle.dumps(piece)) for piece in reversed(pieces)]
    found = [one.id for piece in reversed(alone) for one in piece.entries(piece.source.fresh()) if one.cluster]
    assert found == [one.id for one in corpus]
    assert pieces[-1].share == pytest.approx(1.0)
    assert read_clusters(path)[7].documents[0].title == "Rain"


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz"])
def test_bad_clusters_of_a_stream_are_named_by_their_place(tmp_path, kind):
    records = made_up(70)
    records[60] = records[60] | {"documents": []}
    records[65] = records[65] | {"id": "c3"}
    path = as_kind(kind, tmp_path, records)
    with pytest.raises(ValueError, match='line 61, field "documents"'):
        list(open_corpus(path))
    with pytest.warns(SkippedWarning, match=r"skipped 2 .*kept 68.*line 61.*line 66.*of line 4\b"):
        assert len(list(open_corpus(path, skip_bad=True))) == 68


def test_a_folder_is_another_when_a_file_in_it_is(tmp_path):
    """At any depth that is read, behind links, and where the references are; hidden files are no matter."""
    folder, elsewhere, models = tmp_path / "news", tmp_path / "elsewhere", tmp_path / "models"
    files = [folder / "a" / "1.txt", folder / "a" / "docs" / "2.txt", folder / "a" / "references" / "A.txt"]
    files += [elsewhere / "3.txt", models / "M.txt", folder / "b" / "deep" / "down" / "here" / "4.txt"]
    for path in files:
        write(path, "It rained.")
    (folder / "linked").symlink_to(elsewhere)
    corpus = open_corpus(folder, references=models)
    seen = [corpus.identity]
    for path in files:
        write(path, "It snowed, and it rained.")
        seen.append(corpus.identity)
    assert len({*map(str, seen)}) == len(files) + 1
    write(folder / "a" / ".DS_Store", "x")
    assert corpus.identity == seen[-1]
    files[0].rename(folder / "a" / "0.txt")
    assert corpus.identity != seen[-1]
