"""Files that a run left for the next one, damaged in between: they are made again, and the result is the same."""

import json
import shutil
import warnings

import numpy as np
import pytest

from damages import DAMAGES
from dpplearn._io.workfolder import HEAD, LOCK, WorkFolder
from dpplearn._run.progress import Progress
from dpplearn.learning import ConditionalDPP
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize import Cluster, Summarizer, open_corpus
from dpplearn.summarize.batch import summarize_corpus

EXAMPLE = Cluster.example()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Three little clusters, one of them twice."""
    path, texts = tmp_path_factory.mktemp("damaged") / "corpus.jsonl", [one.text for one in EXAMPLE.documents]
    lines = [
        json.dumps({"id": f"c{k % 3}", "documents": [texts[k][:500]], "references": EXAMPLE.references[:1]})
        for k in range(4)
    ]
    path.write_text("\n".join(lines))
    return path


class Stops(Progress):
    """Ends as soon as a stage is told, or an iteration of a fit is done."""

    def __init__(self, where):
        super().__init__(False)
        self.where = where

    def stage(self, what, *_):
        if what == self.where:
            raise KeyboardInterrupt

    def finish(self, iteration, log_likelihood, gradient):
        super().finish(iteration, log_likelihood, gradient)
        self.stage(f"iteration {iteration}")


def fit(corpus, **options):
    return Summarizer(budget=30, unit="words").fit(open_corpus(corpus, skip_bad=True), **options)


def numbers(fitted):
    return fitted.theta_.tobytes(), json.dumps(fitted.training_), fitted.features_.idf.counts


def summaries(corpus, out, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the language is not the point
        summarize_corpus(open_corpus(corpus, skip_bad=True), out, budget=30, unit="words", **options)
    return out.read_bytes()


def made(work):
    return sorted(path for path in work.rglob("*") if path.is_file() and path.name not in (HEAD, LOCK))


def damaged_each_and_all(work, copy):
    """Copies of a folder in which one file is damaged, the kinds in turn, or all are; and the names of these files."""
    files, kinds = [path.relative_to(work) for path in made(work)], list(DAMAGES)
    cases = [([file], kinds[k % len(kinds)]) for k, file in enumerate(files)] + [(files, kind) for kind in kinds]
    for some, kind in cases:
        shutil.copytree(work, copy)
        for file in some:
            (copy / file).write_bytes(DAMAGES[kind]((copy / file).read_bytes()))
        yield some, kind


@pytest.mark.parametrize(
    ("stopped", "names"),
    [
        ("Preparing", {"learned.json", "000002.json", "000002.jsonl"}),
        ("iteration 2", {"learned.json", "theta.json", "000002-000.npz", "000002.json"}),
    ],
)
def test_training_goes_on_from_damaged_files(corpus, tmp_path, stopped, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the cluster that comes twice
        truth = numbers(fit(corpus))
        with pytest.raises(KeyboardInterrupt):
            fit(corpus, work=tmp_path / "work", verbose=Stops(stopped))
    assert names <= {path.name for path in made(tmp_path / "work")}
    for some, kind in damaged_each_and_all(tmp_path / "work", tmp_path / "copy"):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", UserWarning)
            found = numbers(fit(corpus, work=tmp_path / "copy"))
        assert found == truth, f"{some}, {kind}"
        assert any("damaged, and are made again" in str(one.message) for one in warned), f"{some}, {kind}"


def test_a_batch_goes_on_from_damaged_files(corpus, tmp_path):
    truth = summaries(corpus, tmp_path / "whole.jsonl")
    out, work = tmp_path / "out.jsonl", tmp_path / "work"

    class Last(Stops):
        def stage(self, _, done, __):
            super().stage("third" if done == 3 else "")

    with pytest.raises(KeyboardInterrupt):
        summaries(corpus, out, work=work, verbose=Last("third"))
    assert len(made(work)) == 3
    for some, kind in damaged_each_and_all(work, tmp_path / "copy"):
        assert summaries(corpus, out, work=tmp_path / "copy") == truth, f"{some}, {kind}"


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_folder_whose_settings_are_damaged(tmp_path, kind):
    """One that the command named itself is begun anew; one that the user named may hold anything."""
    with pytest.raises(KeyboardInterrupt), WorkFolder(tmp_path / "work", {"k": 1}):
        raise KeyboardInterrupt
    (tmp_path / "work" / "piece.json").write_text("of what?")
    head = tmp_path / "work" / HEAD
    head.write_bytes(DAMAGES[kind](head.read_bytes()))
    with pytest.raises(ValueError, match=r"unknown settings \(work\.json is damaged\)\. Remove that folder, or give"):
        WorkFolder(tmp_path / "work", {"k": 1}).__enter__()
    with (
        pytest.warns(UserWarning, match=r"work\.json is damaged\): it is begun anew"),
        WorkFolder(tmp_path / "work", {"k": 1}, anew=True) as folder,
    ):
        assert not made(folder.path)


ITEMS = ItemSet(np.arange(8.0).reshape(4, 2) % 3, S=0.5 * np.eye(4) + 0.5)
FITS = {
    "conditional": lambda path: ConditionalDPP().fit([ITEMS] * 2, [[0, 1], [2]], checkpoint=path).theta_.tobytes(),
}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_a_fit_begins_anew_from_a_damaged_checkpoint(tmp_path, fit, kind):
    truth, path = fit(None), tmp_path / "state.json"
    assert fit(path) == truth
    whole = path.read_bytes()
    path.write_bytes(DAMAGES[kind](whole))
    if kind == "garbage":  # not told from a file of somebody else's, which is not to be lost
        with pytest.raises(ValueError, match=r"holds something else\. Delete it to start anew, or"):
            fit(path)
        path.unlink()
        assert fit(path) == truth
        return
    with pytest.warns(UserWarning, match=r"state\.json is damaged: the fit begins anew"):
        assert fit(path) == truth
    assert path.read_bytes() == whole
