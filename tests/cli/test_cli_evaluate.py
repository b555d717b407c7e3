"""dpplearn evaluate and experiment: tables, files, and what may be wrong with a corpus."""

import json

import pytest
from click.testing import CliRunner

from dpplearn.cli import main
from dpplearn.rouge import score_corpus
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments import systems as systems_module
from dpplearn.summarize.experiments.evaluation import Scoring
from dpplearn.summarize.experiments.held_out import human_scores, shared_documents
from dpplearn.summarize.experiments.systems import SYSTEMS
from dpplearn.summarize.explain.summary import Summary

FAST = "begin,random,lexrank,submod,dpp-greedy,dpp-consensus,oracle"


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def record(name, documents, references):
    texts = [{"id": d.id, "title": d.title, "text": d.text} for d in documents]
    return {"id": name, "documents": texts, "references": references}


def write(path, records):
    path.write_text("".join(json.dumps(line) + "\n" for line in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training and test corpora that share no document, and a model."""
    folder = tmp_path_factory.mktemp("corpora")
    example = Cluster.example()
    parts, references = example.documents, list(example.references)
    train = write(folder / "train.jsonl", [record(f"a{k}.x", parts[k : k + 2], references) for k in range(3)])
    test = write(folder / "test.jsonl", [record(f"b{k}.x", parts[4 + k : 6 + k], references) for k in range(3)])
    Summarizer(features="paper", budget=300).fit(read_clusters(train)).save(folder / "m.json")
    return folder, train, test


def test_evaluate_writes_what_it_says(files, tmp_path):
    folder, _, test = files
    out = tmp_path / "out"
    arguments = ["--model", folder / "m.json", "--systems", FAST]
    result = run("evaluate", test, *arguments, "--out", out, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "LexRank" in result.stdout
    results = json.loads((out / "results.json").read_text())
    assert set(results) == {"systems", "settings", "faults"}
    assert list(results["faults"]) == list(results["systems"])
    assert results["faults"]["begin"].keys() == {"dependent", "leaning_openings", "repeated", "unintroduced"}
    assert list(results["systems"]) == [name for name in SYSTEMS if name in FAST.split(",")]
    clusters = {line["id"]: line for line in map(json.loads, test.read_text().splitlines())}
    made = [json.loads(line) for line in (out / "summaries.jsonl").read_text().splitlines()]
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
            assert found["f"] == pytest.approx(100 * average.f.average, abs=1e-3)
            assert found["p"] == pytest.approx(100 * average.precision.average, abs=1e-3)
            assert found["r"] == pytest.approx(100 * average.recall.average, abs=1e-3)
        assert all(len(line["summary"].encode()) <= 315 for line in lines)
        if name not in ("dpp-consensus", "dpp-sample"):
            assert all(len(line["summary"].encode()) <= 300 for line in lines)
    assert results["systems"]["oracle"]["rouge-1"]["f"] == max(
        figures["rouge-1"]["f"] for figures in results["systems"].values()
    )


def test_experiment_prints_both_tables(files, tmp_path):
    _, train, test = files
    peers = tmp_path / "peers"
    peers.mkdir()
    for k in range(3):
        (peers / f"B{k}.X.M.100.T.65").write_text("The ferry stopped in the storm.")
    result = run("experiment", "--train", train, "--test", test, "--systems", "begin,dpp-greedy", "--budget", 300,
                 "--peers", peers, "--out", tmp_path / "out", "--jobs", 1)  # fmt: skip
    assert result.exit_code == 0, result.output
    for said in ("Table 1", "46.59", "Human, left out", "Table 2", "38.20", "Peer 65", "37.87"):
        assert said in result.stdout
    assert "hold documents" not in result.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(results["systems"]) == {"65", "begin", "dpp-greedy"}
    assert set(json.loads((tmp_path / "out" / "details.json").read_text())["table_1"]) == {
        "oracle", "human", "human, left out"
    }  # fmt: skip


def test_leave_one_out_never_sees_its_topic(files, tmp_path, monkeypatch):
    _, train, _ = files
    example = Cluster.example()
    records = [json.loads(line) for line in train.read_text().splitlines()]
    records.append(record("a0.y", example.documents[6:8], list(example.references)))
    corpus = write(tmp_path / "c.jsonl", records)
    seen, real = [], Summarizer.fit
    monkeypatch.setattr(Summarizer, "fit", lambda s, c, **k: seen.append({x.id for x in c}) or real(s, c, **k))
    options = ("--systems", "dpp-greedy,begin", "--out", tmp_path, "--jobs", 1)
    result = run("experiment", "--train", corpus, "--leave-one-out", *options)
    assert result.exit_code == 0, result.output
    assert {frozenset(ids) for ids in seen} == {
        frozenset({"a1.x", "a2.x"}), frozenset({"a0.x", "a0.y", "a2.x"}), frozenset({"a0.x", "a0.y", "a1.x"})
    }  # fmt: skip
    assert json.loads((tmp_path / "details.json").read_text())["systems"]["begin"]["clusters"] == 4


def test_shared_documents_are_reported(files, tmp_path):
    _, train, test = files
    records = [json.loads(line) for line in test.read_text().splitlines()]
    copied = json.loads(train.read_text().splitlines()[0])["documents"][0]
    records[1]["documents"].append({**copied, "id": "copy", "text": copied["text"].replace(" ", "\n", 3)})
    result = run("experiment", "--train", train, "--test", write(tmp_path / "t.jsonl", records),
                 "--systems", "begin,dpp-greedy", "--out", tmp_path, "--jobs", 1)  # fmt: skip
    details = json.loads((tmp_path / "details.json").read_text())
    assert result.exit_code == 0
    assert details["shared_documents"] == {"b1.x": ["copy"]}
    assert "1 of 3 test clusters" in result.stderr
    numbered = [Cluster.from_texts([text]) for text in ("Rain.", "Snow.")]
    assert shared_documents(numbered[:1], numbered[1:]) == {}  # both called "1"


def test_human_rows():
    cluster = Cluster.from_texts(["x"], references=["one two", "one three", "one two"], id="c")
    found = human_scores([cluster], Scoring(100, "words"))
    assert found["human"].averages["rouge-1"].recall.average == pytest.approx((5 + 4 + 5) / 18, abs=2e-3)
    assert found["human, left out"].averages["rouge-1"].recall.average == pytest.approx((3 + 2 + 3) / 12, abs=2e-3)
    assert list(human_scores([Cluster.from_texts(["x"], references=["one"], id="c")], Scoring(9, "words"))) == ["human"]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda rs: [{**r, "references": []} for r in rs], 1, "nothing to score against"),
        (lambda rs: [{**rs[0], "references": []}, *rs[1:]], 0, "left out, without references: b0.x"),
        (lambda rs: [{**r, "references": r["references"][:1]} for r in rs], 0, ""),
        (lambda rs: [{**r, "documents": [{"id": "1", "text": "Only this."}]} for r in rs], 0, ""),
        (lambda rs: [rs[0], rs[0]], 1, "'b0.x' is already the id"),
    ],
)
def test_odd_corpora(files, tmp_path, change, code, said):
    folder, _, test = files
    records = [json.loads(line) for line in test.read_text().splitlines()]
    corpus = write(tmp_path / "odd.jsonl", change(records))
    options = ["--model", folder / "m.json", "--systems", FAST, "--jobs", 1]
    result = run("evaluate", corpus, *options)
    assert result.exit_code == code, result.output
    assert said in result.stderr


def test_skip_bad_leaves_out_clusters_that_cannot_be_used(files, tmp_path):
    folder, train, test = files

    def bad(path):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        many = {"id": "1", "text": "\n\n".join(["It rained."] * 5001)}
        records += [
            {**records[0], "id": "bare", "references": []},
            {**records[0], "id": "blank", "references": [" "], "documents": [{"id": "1", "text": "..."}]},
            {**records[0], "id": "mute", "documents": [{"id": "1", "text": "..."}]},
            {**records[0], "id": "vast", "documents": [many]},
        ]
        return write(tmp_path / path.name, records)

    worse_train, worse_test = bad(train), bad(test)
    commands = {
        "train": ["train", worse_train, "--out", tmp_path / "m.json", "--budget", 300, "--jobs", 1],
        "evaluate": ["evaluate", worse_test, "--model", folder / "m.json", "--systems", "begin", "--jobs", 1],
    }
    for name, command in commands.items():
        failed = run(*command)
        assert failed.exit_code == 1, name
        result = run(*command, "--skip-bad")
        assert result.exit_code == 0, result.stderr
        for said in (
            "left out cluster bare of", "it has no reference summary.", "left out cluster blank of",
            "it has no sentence and no reference summary.", "it has no sentence.", "at most 5,000 sentences",
        ):  # fmt: skip
            assert said in result.stderr
    (tmp_path / "m.json").unlink()
    good, few = run("train", train, *commands["train"][2:]), json.loads((tmp_path / "m.json").read_text())
    assert good.exit_code == 0
    assert run(*commands["train"], "--skip-bad").exit_code == 0
    assert json.loads((tmp_path / "m.json").read_text()) == few
    bare = write(tmp_path / "bare.jsonl", [{"id": "x", "documents": [{"id": "1", "text": "Rain."}]}])
    result = run("train", bare, "--out", tmp_path / "m.json", "--skip-bad", "--jobs", 1)
    assert result.exit_code == 1
    assert "none is left" in result.stderr


def test_sampled_summaries_near_the_limit(files):
    """As in the paper: from 5 bytes under to 15 over, then trimmed by the scorer; `summarize` stays within."""
    folder, _, _ = files
    model = Summarizer.load(folder / "m.json")
    cluster = Cluster.example()
    over = Summary.of(model._decision(cluster, 665, "bytes", "sampled", overrun=15.0, fill=True, n_samples=2_000))
    assert 660 <= over.length <= 680
    assert model.summarize(cluster, 665, "bytes", decoder="sampled", n_samples=2_000).length <= 665


def test_odd_options(files):
    folder, train, test = files
    early = run("train", train, "--out", folder / "no.json", "--budget", "nan")
    assert early.exit_code == 1
    assert "Error: budget must be" in early.stderr
    assert "Read" not in early.stderr  # said before the corpus is looked at
    assert run("experiment", "--train", train, "--leave-one-out", "--budget", "nan").exit_code == 2
    for systems, said in (("begin,lead", "'lead'"), ("begin,lr-mmr", "dpplearn experiment --train CORPUS has them")):
        unknown = run("evaluate", test, "--model", folder / "m.json", "--systems", systems)
        assert unknown.exit_code == 2
        assert said in unknown.stderr
    same = run("experiment", "--train", train, "--test", train, "--systems", "begin", "--jobs", 1)
    assert same.exit_code == 0
    assert "same file" in same.stderr
    assert run("experiment", "--train", train).exit_code == 2
    assert run("experiment", "--train", train, "--test", test, "--leave-one-out").exit_code == 2


def test_the_regression_is_trained_where_it_is_asked_for(files, monkeypatch):
    _, train, test = files
    trained, real = [], systems_module.fit_logistic
    monkeypatch.setattr(systems_module, "fit_logistic", lambda *a, **k: trained.append(len(a[0])) or real(*a, **k))
    experiment = ["experiment", "--train", train, "--test", test, "--budget", 300, "--jobs", 1, "--systems"]
    assert run(*experiment, "begin,dpp-greedy").exit_code == 0
    assert trained == []
    assert "LR+MMR" in run(*experiment, "lr-mmr,lr-dpp,begin").stdout
    assert trained == [3]
