"""Compares kinds of similarity by held-out likelihood and by the measure of each task, for docs/learned-similarity.md.

    python scripts/similarity_study.py [made-up] [news] [papers] [registries] --data FOLDER --work FOLDER [--jobs 2]

The data are made up with a known truth; MultiLing 2011 English, with one topic left out at a time (250 words);
CL-SciSumm 2018, from its training part to its test part (150 words, human references); and baby registries of three
categories. Each row is a file of the work folder, so that an interrupted study can go on; rows of another commit are
refused. Once all rows exist, they go to docs/assets/similarity_study.json with the commit, and
scripts/similarity_page.py writes the tables of the page. All random numbers are seeded.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from make_model import METRICS, with_human_references

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn._io.atomic import replace_file
from dpplearn._run.blas import blas_threads
from dpplearn.learning.similarity import Similarity
from dpplearn.rouge import Rouge
from dpplearn.summarize import SentenceFeatures, Summarizer, read_clusters
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.settings import Trained
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.model.training import examples_of

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs/assets/similarity_study.json"
KINDS = ("fixed", "mixture")
DECODERS = ("consensus", "greedy")
INDEPENDENT, TRUTH = "independent items", "the truth"
LIKELIHOODS = {False: "of the set", True: "given the size"}

# Made-up data

THETA = np.array([-1.0, 0.8, -0.5])
DRAWS, N, HELD = 4, 9, 300
LEARN_FROM = (60, 240)


def item_set(n, rng):
    F = np.column_stack([np.ones(n), rng.standard_normal((n, 2))])
    return ItemSet(F, phi={"topic": rng.standard_normal((n, 3)), "style": rng.standard_normal((n, 3))})


def truths():
    """The similarities that subsets are drawn from."""
    return {
        "equal parts": Similarity(("topic", "style"), np.array([0.1, 0.1, 0.4, 0.4])),
        "one part": Similarity(("topic", "style"), np.array([0.1, 0.1, 0.78, 0.02])),
    }


def draw(count, n, truth, rng):
    X = [item_set(n, rng) for _ in range(count)]
    q = [np.exp(x.features @ THETA / 2) for x in X]
    return X, [DPP.from_quality(a, truth.matrix(x)).sample(1, rng=rng)[0] for a, x in zip(q, X, strict=True)]


def agreement(model, X, y):
    """Mean share, in percent, of the chosen items that the model chooses too, if it chooses as many at most."""
    pairs = [(x, Y) for x, Y in zip(X, y, strict=True) if Y.size]
    return 100 * float(np.mean([np.isin(Y, model.decode(x, k=int(Y.size)).subset).mean() for x, Y in pairs]))


def made_up(name, learn_from, given_size, kind):
    """Held-out log-likelihood per instance and agreement in percent, for each draw of data."""
    results, start = [], time.process_time()
    for seed in range(DRAWS):
        X, y = draw(HELD, N, truths()[name], np.random.default_rng([15, seed]))
        learn = draw(learn_from, N, truths()[name], np.random.default_rng([16, seed]))
        options = {"nugget": 0.05} if kind == "fixed" else {"similarity": kind}
        if kind == TRUTH:  # only chance can beat it
            model = ConditionalDPP.from_weights(THETA).set_params(given_size=given_size)
            model.similarity_ = truths()[name]
        else:
            model = ConditionalDPP(10.0, given_size=given_size, **options).fit(*learn)
        results.append([model.score(X, y), agreement(model, X, y)])
    spent = (time.process_time() - start) / DRAWS
    return {"log-likelihood": [a for a, _ in results], "agreement": [b for _, b in results], "seconds": spent}


# Texts


def trained(kind, clusters, length, features, given_size):
    """Fit like `Summarizer.fit`, or by the likelihood given the size."""
    summarizer = Summarizer(features, budget=length, unit="words")
    settings = summarizer.settings
    features = SentenceFeatures(features)
    splits = [split_cluster(cluster) for cluster in clusters]
    features.fit(clusters)
    examples = [example for split in splits for example in examples_of(features, split, settings)]
    options = {"rho": settings.rho} if kind == "fixed" else {"similarity": kind}
    model = ConditionalDPP(1.0, given_size=given_size, on_impossible="drop", **options).fit(
        *zip(*examples, strict=True)
    )
    return summarizer._keep(Trained(features, model, None, {}))


def scored(summarizer, cluster, length):
    """Mean log-likelihood of a held-out cluster's extracts, and ROUGE F of its summaries."""
    split = summarizer.features_.read(cluster)
    targets = training_targets(split, summarizer.settings)
    value = float(summarizer.model_.log_prob([split.items] * len(targets), targets).mean())
    rouge = Rouge(list(cluster.references), list(METRICS), words=length, stem=True, tokenizer="official")
    texts = {name: summarizer.summarize(split, length, "words", decoder=name, fill=True).text for name in DECODERS}
    f = {name: rouge.score(text.splitlines()) for name, text in texts.items()}
    return value, {name: [100 * scores[metric].f for metric in METRICS] for name, scores in f.items()}


def folds(corpus, data):
    """Clusters to learn from, those held out, and the length of summaries."""
    if corpus == "news":
        clusters = [c for c in read_clusters(data / "multiling2011.jsonl") if c.language == "english"]
        return [(clusters[:t] + clusters[t + 1 :], [clusters[t]]) for t in range(len(clusters))], 250
    clusters = [with_human_references(c) for c in read_clusters(data / "clscisumm2018.jsonl")]
    parts = [[c for c in clusters if c.split == name and c.references] for name in ("train", "test")]
    return [tuple(parts)], 150


def texts(corpus, data, features, given_size, kind):
    """The figures of every held-out cluster."""
    train_and_test, length = folds(corpus, data)
    results, spent, weights = [], [], []
    for train, test in train_and_test:
        start = time.process_time()
        summarizer = trained(kind, train, length, features, given_size)
        spent.append(time.process_time() - start)
        weights.append(summarizer.model_.similarity_.weights)
        results += [scored(summarizer, cluster, length) for cluster in test]
    names = [name for name in weights[0] if kind in ("fixed", "mixture") or name in ("own", "all")]
    return {
        "log-likelihood": [value for value, _ in results],
        **{
            f"{name} {metric}": [f[name][m] for _, f in results]
            for name in DECODERS
            for m, metric in enumerate(METRICS)
        },
        "weights": {name: float(np.mean([w[name] for w in weights])) for name in names},
        "seconds": float(np.mean(spent)),
    }


# Registries

ITEMS, LEARN, TEST = 300, 300, 1000


def registry_items(baskets):
    """Items with their frequency; similar by category, and by the items bought with them, in 10 directions."""
    B = np.zeros((len(baskets), ITEMS))
    for t, basket in enumerate(baskets):
        B[t, basket] = 1.0
    F = np.column_stack([np.ones(ITEMS), np.log((B.sum(axis=0) + 0.5) / len(baskets))])
    category = np.eye(3)[np.arange(ITEMS) // 100]
    U, s, _ = np.linalg.svd(np.log1p(B.T @ B), hermitian=True)
    return ItemSet(F, phi={"category": category, "company": U[:, :10] * s[:10]}, names=["constant", "log frequency"])


def percentile(L, basket, held):
    """The percentile rank of the held-out item among all items outside the rest of its basket."""
    rest = basket[basket != held]
    gain = L.diagonal() - np.einsum("ij,ij->j", L[rest], np.linalg.solve(L[np.ix_(rest, rest)], L[rest]))
    others = np.setdiff1d(np.arange(ITEMS), rest)
    return 100 * float(np.mean(gain[others] <= gain[held]))


def registries(data, given_size, kind):
    lines = (data / "registries_three.csv").read_text().split("\n")
    baskets = [np.unique(np.array(line.split(), int) - 1) for line in lines if line.strip()]
    rng = np.random.default_rng(15)
    order = [baskets[i] for i in rng.permutation(len(baskets))]
    test, learn, rest = order[:TEST], order[TEST : TEST + LEARN], order[TEST + LEARN :]
    items = registry_items(rest)  # from baskets outside the training and test sets
    several = [(basket, rng.choice(basket)) for basket in test if basket.size > 1]
    options = {"fixed": {"nugget": 0.1}, INDEPENDENT: {"nugget": 1.0}}
    options = options.get(kind, {"similarity": kind})
    start = time.process_time()
    model = ConditionalDPP(10.0, given_size=given_size, **options).fit([items] * len(learn), learn)
    spent = time.process_time() - start
    q = np.exp(model.quality_.log_q(items))
    L = q[:, None] * model.similarity_.matrix(items) * q
    return {
        "log-likelihood": model.log_prob([items] * len(test), test).tolist(),
        "percentile": [percentile(L, basket, held) for basket, held in several],
        "weights": model.similarity_.weights,
        "seconds": spent,
    }


# Rows and their files


def planned_rows(data):
    """For each part of the study, its rows: their labels, and the call that computes their figures."""
    rows = {name: [] for name in ("made-up", "news", "papers", "registries")}

    def add(part, call, **labels):
        rows[part].append((labels, call))

    for name in truths():
        for learn_from in LEARN_FROM:
            for size in LIKELIHOODS:
                for kind in (*KINDS, TRUTH):
                    call = partial(made_up, name, learn_from, size, kind)
                    add("made-up", call, truth=name, instances=str(learn_from), likelihood=LIKELIHOODS[size], kind=kind)
    for corpus in ("news", "papers"):
        for features, size, kinds in (
            ("paper", False, KINDS), ("general", False, KINDS), ("paper", True, KINDS[:3]),
        ):  # fmt: skip
            for kind in kinds:
                call = partial(texts, corpus, data, features, size, kind)
                add(corpus, call, features=features, likelihood=LIKELIHOODS[size], kind=kind)
    for size, kinds in (
        (False, ("fixed", INDEPENDENT, *KINDS[1:])),
        (True, ("fixed", INDEPENDENT, "mixture")),
    ):
        for kind in kinds:
            add("registries", partial(registries, data, size, kind), likelihood=LIKELIHOODS[size], kind=kind)
    return rows


def file_of(work, part, labels):
    return work / (re.sub(r"[^a-z0-9]+", "-", " ".join([part, *labels.values()]).lower()) + ".json")


def finished_row(path, part, labels, call, commit):
    """The row of a file, which is computed and written if it does not exist."""
    if not path.exists():
        with warnings.catch_warnings(), blas_threads(0):
            warnings.simplefilter("ignore")
            row = rounded({"commit": commit, "part": part, **labels, **call()})
        with replace_file(path, "w") as file:
            file.write(json.dumps(row) + "\n")
    row = json.loads(path.read_text(encoding="utf-8"))
    if row["commit"] != commit:
        raise SystemExit(f"{path} is of commit {row['commit']}, and this is {commit}. Give another --work folder.")
    return row


def commit_here():
    """The commit of the running code, with "-dirty" if files have changed since."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="made-up, news, papers, registries; default: all")
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--work", type=Path, required=True, help="folder of the finished rows")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    rows, commit = planned_rows(arguments.data), commit_here()
    if unknown := set(arguments.parts) - set(rows):
        parser.error(f"expected parts among {', '.join(rows)}, found {unknown.pop()!r}")
    arguments.work.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [
            pool.submit(finished_row, file_of(arguments.work, part, labels), part, labels, call, commit)
            for part in arguments.parts or rows
            for labels, call in rows[part]
        ]
        for future in futures:
            print({name: x for name, x in future.result().items() if not isinstance(x, list)}, flush=True)
    files = {part: [file_of(arguments.work, part, labels) for labels, _ in planned] for part, planned in rows.items()}
    if missing := [path.name for paths in files.values() for path in paths if not path.exists()]:
        print(f"{len(missing)} rows are missing: {', '.join(missing)}.")
        return
    lines = [f'"commit": "{commit}"']
    for part, paths in files.items():
        finished = [finished_row(path, part, {}, None, commit) for path in paths]
        lines.append(f'"{part}": [\n' + ",\n".join(json.dumps(strip(row)) for row in finished) + "\n]")
    arguments.out.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"All rows are in {arguments.out}; scripts/similarity_page.py writes the tables.")


def strip(row):
    """A row without the commit and the part, which all rows of a part share."""
    return {name: x for name, x in row.items() if name not in ("commit", "part")}


def rounded(x):
    """The figures, rounded to five digits."""
    if isinstance(x, dict):
        return {name: rounded(value) for name, value in x.items()}
    if isinstance(x, list):
        return [rounded(value) for value in x]
    return round(x, 5) if isinstance(x, float) else x


if __name__ == "__main__":
    main()
