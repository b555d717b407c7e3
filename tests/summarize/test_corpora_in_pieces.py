"""Corpora as streams: the same clusters in pieces, whatever the kind of files, and told from others."""

import gzip
import json
import pickle

import pytest

from corpus_files import RAIN, lines, write
from dpplearn.summarize import Cluster, Document, SkippedWarning, open_corpus, read_clusters
from dpplearn.summarize.corpora import reading


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


def test_packed_files_that_were_cut_short(tmp_path):
    data = lines(*made_up(200)).encode()
    path = write(tmp_path / "c.jsonl.gz", gzip.compress(data)[:-20])
    with pytest.raises(ValueError, match=r"whole gzip file.*leave it out"):
        list(open_corpus(path))


def test_corpora_that_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="No file matches"):
        open_corpus(tmp_path / "*.jsonl")
    with pytest.raises(ValueError, match=r"has the language 'czech'\. Found english, german"):
        list(open_corpus(write(tmp_path / "c.jsonl", lines(*made_up(4))), language="czech"))


def test_long_lines_end_a_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("dpplearn.summarize.corpora.source.PIECE_BYTES", 300)
    corpus = open_corpus(write(tmp_path / "c.jsonl", lines(*made_up(9)).rstrip("\n")))
    assert len(list(corpus.pieces(corpus.notes()))) > 3
    assert [one.id for one in corpus] == [f"c{k}" for k in range(9)]


def test_any_field_tells_clusters_in_memory_apart():
    opening = "It rained for days. " * 10
    kinds = ({}, {"title": "T"}, {"date": "2004"}, {"role": "news"}, {"blocks": [(0, 19, "heading")]})
    clusters = [Cluster([Document("a", opening, **given)], ["Rain."]) for given in kinds]
    clusters.append(Cluster([Document("a", opening + "Then it stopped.")], ["Rain."]))
    given = ({"language": "english"}, {"split": "b"}, {"reference_ids": ["A"]}, {"id": "c"})
    clusters += [Cluster([Document("a", opening)], ["Rain."], **one) for one in given]
    found = [json.dumps(reading.corpus_in_memory([one]).identity) for one in clusters]
    assert len({*found}) == len(clusters)
    assert json.dumps(reading.corpus_in_memory(clusters[:1]).identity) == found[0]


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


def test_a_cluster_is_split_once(tmp_path, monkeypatch):
    """By whoever asks whether it can be learned from, and by whoever then learns from it."""
    from dpplearn.summarize import Summarizer
    from dpplearn.summarize.corpora import candidates as module

    split, real = [], module.find_candidates
    monkeypatch.setattr(module, "find_candidates", lambda one, *how: split.append(one.id) or real(one, *how))
    texts = ["The river rose by a metre. Boats sank in the harbour.", "Nine roads were closed. Schools stay shut."]
    records = [{"id": f"c{k}", "documents": [texts[k % 2]], "references": [texts[k % 2][:26]]} for k in range(4)]
    corpus = open_corpus(write(tmp_path / "c.jsonl", lines(*records)), usable=True)
    Summarizer("paper", budget=6, unit="words").fit(corpus)
    assert sorted(split) == ["c0", "c1", "c2", "c3"]
