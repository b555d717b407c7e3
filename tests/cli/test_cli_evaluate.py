"""dpplearn evaluate and experiment: tables, files, and what may be wrong with a corpus."""

import json
from dataclasses import replace

import pytest

from commands import output, run, write, write_lines
from dpplearn.rouge import score_corpus
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments import systems as systems_module
from dpplearn.summarize.experiments.evaluation import Scoring, human_scores
from dpplearn.summarize.experiments.systems import SYSTEMS
from dpplearn.summarize.explain.summary import Summary

FAST = "begin,random,lexrank,submod,dpp-greedy,dpp-consensus,oracle"


def record(name, documents, references):
    texts = [{"id": d.id, "title": d.title, "text": d.text} for d in documents]
    return {"id": name, "documents": texts, "references": references}


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training and test corpora that share no document, and a model."""
    folder, example = tmp_path_factory.mktemp("corpora"), Cluster.example()
    parts, references = example.documents, list(example.references)
    train = write_lines(folder / "train.jsonl", [record(f"a{k}.x", parts[k : k + 2], references) for k in range(3)])
    test = write_lines(folder / "test.jsonl", [record(f"b{k}.x", parts[4 + k : 6 + k], references) for k in range(3)])
    Summarizer(features="paper", budget=300).fit(read_clusters(train)).save(folder / "m.json")
    return folder / "m.json", train, test


def test_evaluate_writes_what_it_says(files, tmp_path):
    model, _, test = files
    arguments = ("--model", model, "--systems", FAST, "--out", tmp_path, "--jobs", 1)
    assert "LexRank" in output("evaluate", test, *arguments)
    results = json.loads((tmp_path / "results.json").read_text())
    assert set(results) == {"systems", "settings", "faults"}
    assert list(results["faults"]) == list(results["systems"])
    assert results["faults"]["begin"].keys() == {"dependent", "leaning_openings", "repeated", "unintroduced"}
    assert list(results["systems"]) == [name for name in SYSTEMS if name in FAST.split(",")]
    clusters = {line["id"]: line for line in read_lines(test)}
    made = read_lines(tmp_path / "summaries.jsonl")
    for name, figures in results["systems"].items():
        lines = [line for line in made if line["system"] == name]
        assert [line["id"] for line in lines] == sorted(clusters)
        scored = score_corpus(
            {line["id"]: line["summary"] for line in lines},
            {line["id"]: clusters[line["id"]]["references"] for line in lines},
            ["rouge-1", "rouge-2", "rouge-su4"],
            bytes=300,
            system=name,
        )
        for metric, found in figures.items():
            average = scored.averages[metric]
            for key, known in zip("fpr", (average.f, average.precision, average.recall), strict=True):
                assert found[key] == pytest.approx(100 * known.average, abs=1e-3)
        near = 315 if name in ("dpp-consensus", "dpp-sample") else 300
        assert all(len(line["summary"].encode()) <= near for line in lines)
    best = max(figures["rouge-1"]["f"] for figures in results["systems"].values())
    assert results["systems"]["oracle"]["rouge-1"]["f"] == best


def test_experiment_prints_both_tables(files, tmp_path):
    _, train, test = files
    for k in range(3):
        write(tmp_path / "peers" / f"B{k}.X.M.100.T.65", "The ferry stopped in the storm.")
    done = run("experiment", "--train", train, "--test", test, "--systems", "begin,dpp-greedy", "--budget", 300,
               "--peers", tmp_path / "peers", "--out", tmp_path / "out", "--jobs", 1)  # fmt: skip
    assert done.exit_code == 0, done.output
    for said in ("Table 1", "46.59", "Human, left out", "Table 2", "38.20", "Peer 65", "37.87"):
        assert said in done.stdout
    assert "hold documents" not in done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(results["systems"]) == {"65", "begin", "dpp-greedy"}
    details = json.loads((tmp_path / "out" / "details.json").read_text())
    assert set(details["table_1"]) == {"oracle", "human", "human, left out"}


def test_leave_one_out_never_sees_its_topic(files, tmp_path, monkeypatch):
    example, (_, train, _) = Cluster.example(), files
    rows = [*read_lines(train), record("a0.y", example.documents[6:8], list(example.references))]
    seen, real = [], Summarizer.fit
    monkeypatch.setattr(Summarizer, "fit", lambda s, c, **k: seen.append({x.id for x in c}) or real(s, c, **k))
    options = ("--leave-one-out", "--systems", "dpp-greedy,begin", "--out", tmp_path, "--jobs", 1)
    output("experiment", "--train", write_lines(tmp_path / "c.jsonl", rows), *options)
    assert {" ".join(sorted(ids)) for ids in seen} == {"a1.x a2.x", "a0.x a0.y a2.x", "a0.x a0.y a1.x"}
    assert json.loads((tmp_path / "details.json").read_text())["systems"]["begin"]["clusters"] == 4


def test_human_rows():
    cluster = Cluster.from_texts(["x"], references=["one two", "one three", "one two"], id="c")
    found = human_scores([cluster], Scoring(100, "words"))
    assert found["human"].averages["rouge-1"].recall.average == pytest.approx((5 + 4 + 5) / 18, abs=2e-3)
    assert found["human, left out"].averages["rouge-1"].recall.average == pytest.approx((3 + 2 + 3) / 12, abs=2e-3)
    assert list(human_scores([Cluster.from_texts(["x"], references=["one"], id="c")], Scoring(9, "words"))) == ["human"]


def test_sampled_summaries_near_the_limit(files):
    """As in the paper: from 5 bytes under to 15 over, then trimmed by the scorer; `summarize` stays within."""
    model, cluster = Summarizer.load(files[0]), Cluster.example()
    decision = systems_module.filling_decision(model, model.features_.read(cluster), 665, "bytes", "sampled")
    over = Summary.of(replace(decision, n_samples=2_000))
    assert 660 <= over.length <= 680
    assert model.summarize(cluster, 665, "bytes", decoder="sampled", n_samples=2_000).length <= 665
