"""The tables of docs/learned-similarity.md: held-out likelihood and the task's own measure of the kinds of similarity.

    python scripts/similarity_study.py [made-up] [news] [papers] [registries] --data FOLDER [--jobs 2]
    python scripts/similarity_study.py --tables

Made-up data, whose truth is known; MultiLing 2011 English, one topic left out at a time (250 words); CL-SciSumm 2018,
from its training part to its test part (150 words, human references); baby registries of three categories. The figures
of each instance go to docs/assets/similarity_study.json, from which --tables writes the tables; what is there already
is not done again. Seeded: the same figures each time.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn._run.blas import blas_threads
from dpplearn.learning.similarity import Mixture, Scaled
from dpplearn.rouge import Rouge
from dpplearn.summarize import Summarizer, read_clusters
from dpplearn.summarize.model.training import Example, Trained, flat, learned_options, training_targets
from dpplearn.summarize.text.words import words

OUT = Path(__file__).parent.parent / "docs/assets/similarity_study.json"
KINDS = ("fixed", "mixture", "scaled", "projected")
METRICS = ("rouge-1", "rouge-2", "rouge-su4")
DECODERS = ("consensus", "greedy")
PROFILE = "fixed, rho and nugget learned"
OF = {False: "of the set", True: "given the size"}

# Made-up data

THETA = np.array([-1.0, 0.8, -0.5])
DRAWS, T, N = 4, 60, 9


def item_set(n, rng):
    F = np.column_stack([np.ones(n), rng.standard_normal((n, 2))])
    return ItemSet(F, phi={"topic": rng.standard_normal((n, 3)), "style": rng.standard_normal((n, 3))})


def truths():
    """What the subsets are drawn from."""
    scaled = Scaled(names=()).bound([part.shape for part in item_set(3, np.random.default_rng(0)).parts])
    v = np.array([0.45, 0.02, 0.02, 0.45, 0.03, 0.03])
    return {
        "equal parts": Mixture(("topic", "style"), np.array([0.1, 0.1, 0.4, 0.4])),
        "one part": Mixture(("topic", "style"), np.array([0.1, 0.1, 0.78, 0.02])),
        "two features": Scaled(scaled.names, np.array([0.1, 0.1, 0.8]), v),
    }


def draw(count, n, truth, rng):
    X = [item_set(n, rng) for _ in range(count)]
    q = [np.exp(x.features @ THETA / 2) for x in X]
    return X, [DPP.from_quality(a, truth.matrix(x)).sample(1, rng=rng)[0] for a, x in zip(q, X, strict=True)]


def agreement(model, X, y):
    """Mean share of the chosen items that the model chooses too, when it chooses as many at most, in percent."""
    pairs = [(x, Y) for x, Y in zip(X, y, strict=True) if Y.size]
    return 100 * float(np.mean([np.isin(Y, model.decode(x, k=int(Y.size)).subset).mean() for x, Y in pairs]))


def made_up(name, given_size, kind):
    """Held-out log-likelihood per instance, and agreement in percent, of each draw of data."""
    found = []
    for seed in range(DRAWS):
        X, y = draw(2 * T, N, truths()[name], np.random.default_rng([15, seed]))
        options = {"nugget": 0.05} if kind == "fixed" else {"similarity": kind, "n_starts": 2}
        model = ConditionalDPP(10.0, given_size=given_size, **options).fit(X[:T], y[:T])
        found.append([model.score(X[T:], y[T:]), agreement(model, X[T:], y[T:])])
    return {"log-likelihood": [a for a, _ in found], "agreement": [b for _, b in found]}


# Texts


def encoder_of(clusters):
    """A small encoder that knows the training clusters: tf-idf of words, of which an SVD keeps 50 directions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    texts = [line for c in clusters for d in c.documents for line in d.text.splitlines() if line.strip()]
    made = make_pipeline(TfidfVectorizer(analyzer=words, sublinear_tf=True), TruncatedSVD(50, random_state=0)).fit(
        texts
    )
    return lambda some: np.hstack([made.transform(some), np.full((len(some), 1), 0.05)])  # unknown words: all alike


def trained(kind, clusters, length, features, given_size, with_encoder):
    """As `Summarizer.fit` does, but for the likelihood given the size."""
    encoder = encoder_of(clusters) if with_encoder else None
    summarizer = Summarizer(features, budget=length, unit="words", similarity=kind, encoder=encoder)
    settings = summarizer.settings
    features = settings.sentence_features()
    examples = [Example(r, r.item_set("words"), training_targets(r, settings)) for r in features.fit_read(clusters)]
    options = {"rho": settings.rho} if kind == "fixed" else learned_options(kind)
    model = ConditionalDPP(1.0, given_size=given_size, on_impossible="drop", **options).fit(*flat(examples))
    return summarizer._keep(Trained(features, model, None, {}))


def scored(summarizer, cluster, length):
    """Log-likelihood of a held-out cluster's extracts, mean over its references, and ROUGE F of summaries."""
    read = summarizer.features_.read(cluster)
    targets = training_targets(read, summarizer.settings)
    value = float(summarizer.model_.log_prob([read.items] * len(targets), targets).mean())
    rouge = Rouge(list(cluster.references), list(METRICS), words=length, stem=True, tokenizer="official")
    made = {name: summarizer.summarize(read, length, "words", decoder=name, fill=True).text for name in DECODERS}
    f = {name: rouge.score(text.splitlines()) for name, text in made.items()}
    return value, {name: [100 * one[metric].f for metric in METRICS] for name, one in f.items()}


def human(cluster):
    kept = [k for k, name in enumerate(cluster.reference_ids) if "human" in name]
    return replace(cluster, references=[cluster.references[k] for k in kept], reference_ids=())


def folds(corpus, data):
    """Clusters to learn from, those held out, and the length of summaries."""
    if corpus == "news":
        found = [c for c in read_clusters(data / "multiling2011.jsonl") if c.language == "english"]
        return [(found[:t] + found[t + 1 :], [found[t]]) for t in range(len(found))], 250
    found = [human(c) for c in read_clusters(data / "clscisumm2018.jsonl")]
    parts = [[c for c in found if c.split == name and c.references] for name in ("train", "test")]
    return [tuple(parts)], 150


def one_fold(corpus, data, kind, features, given_size, with_encoder, fold):
    with warnings.catch_warnings(), blas_threads(0):
        warnings.simplefilter("ignore")
        (train, test), length = folds(corpus, data)[0][fold], folds(corpus, data)[1]
        start = time.process_time()
        summarizer = trained(kind, train, length, features, given_size, with_encoder)
        spent = time.process_time() - start
        weights = summarizer.model_.similarity_.weights if kind in ("fixed", "mixture") else {}
        return [(*scored(summarizer, cluster, length), weights, spent) for cluster in test]


def texts(corpus, data, kind, features, given_size, with_encoder, apply=map):
    """Figures of every held-out cluster."""
    count = len(folds(corpus, data)[0])
    work = apply(partial(one_fold, corpus, data, kind, features, given_size, with_encoder), range(count))
    found = [one for fold in work for one in fold]
    names = found[0][2]
    return {
        "log-likelihood": [value for value, *_ in found],
        **{
            f"{name} {metric}": [f[name][m] for _, f, *_ in found]
            for name in DECODERS
            for m, metric in enumerate(METRICS)
        },
        "weights": {name: float(np.mean([one[2][name] for one in found])) for name in names},
        "seconds": float(np.mean([one[3] for one in found])),
    }


# Registries

ITEMS, LEARN, TEST = 300, 300, 1000


def registry_items(baskets):
    """Items by their frequency; alike by category, and by the items that they are bought with, in 10 directions."""
    B = np.zeros((len(baskets), ITEMS))
    for t, basket in enumerate(baskets):
        B[t, basket] = 1.0
    F = np.column_stack([np.ones(ITEMS), np.log((B.sum(axis=0) + 0.5) / len(baskets))])
    category = np.eye(3)[np.arange(ITEMS) // 100]
    U, s, _ = np.linalg.svd(np.log1p(B.T @ B), hermitian=True)
    return ItemSet(F, phi={"category": category, "company": U[:, :10] * s[:10]}, names=["constant", "log frequency"])


def percentile(L, basket, held):
    """The share of items outside the rest of a basket that are not likelier than the one held out, in percent."""
    rest = basket[basket != held]
    gain = L.diagonal() - np.einsum("ij,ij->j", L[rest], np.linalg.solve(L[np.ix_(rest, rest)], L[rest]))
    others = np.setdiff1d(np.arange(ITEMS), rest)
    return 100 * float(np.mean(gain[others] <= gain[held]))


def registries(data, kind):
    lines = (data / "registries_three.csv").read_text().split("\n")
    baskets = [np.unique(np.array(line.split(), int) - 1) for line in lines if line.strip()]
    rng = np.random.default_rng(15)
    order = [baskets[i] for i in rng.permutation(len(baskets))]
    test, learn, rest = order[:TEST], order[TEST : TEST + LEARN], order[TEST + LEARN :]
    items = registry_items(rest)  # their features know neither
    options = {"fixed": {"nugget": 0.1}, PROFILE: {"learn_rho": True, "learn_nugget": True}}
    options = options.get(kind, {"similarity": kind, "n_starts": 2, "n_components": 4})
    start = time.process_time()
    model = ConditionalDPP(10.0, **options).fit([items] * len(learn), learn)
    spent = time.process_time() - start
    L = model.dpp(items).L
    several = [(basket, rng.choice(basket)) for basket in test if basket.size > 1]
    return {
        "log-likelihood": model.log_prob([items] * len(test), test).tolist(),
        "percentile": [percentile(L, basket, held) for basket, held in several],
        "weights": model.similarity_.weights,
        "seconds": spent,
    }


# Figures and tables


def row(kind, given_size, **found):
    return {"kind": kind, "likelihood": OF[given_size], **found}


def named(found):
    return found.get("truth", found.get("features")), found["kind"], found["likelihood"]


def study(which, data, apply, known):
    """Rows of one part of the study that are not known yet, one at a time."""
    if which == "made-up":
        asked = [(name, size, kind) for name in truths() for size in OF for kind in KINDS]
        asked.sort(key=lambda one: one[2] == "projected")  # which takes longest
        asked = [(name, size, kind) for name, size, kind in asked if (name, kind, OF[size]) not in known]
        for (name, size, kind), found in zip(asked, apply(partial(star, made_up), asked), strict=True):
            yield {"truth": name} | row(kind, size, **found)
    elif which == "registries":
        asked = [(data, kind) for kind in (*KINDS[:1], PROFILE, *KINDS[1:]) if (None, kind, OF[False]) not in known]
        for (_, kind), found in zip(asked, apply(partial(star, registries), asked), strict=True):
            yield row(kind, False, **found)
    else:
        plain = [(kind, features, False, False) for features in ("paper", "general") for kind in KINDS]
        more = [("mixture", False, True), ("fixed", False, True), ("fixed", True, False), ("mixture", True, False)]
        for kind, features, size, encoder in plain + [(kind, "paper", *others) for kind, *others in more]:
            title = f"{kind} with an encoder" if encoder else kind
            if (features, title, OF[size]) not in known:
                found = texts(which, data, kind, features, size, encoder, apply)
                yield {"features": features} | row(title, size, **found)


def star(function, arguments):
    with warnings.catch_warnings(), blas_threads(0):
        warnings.simplefilter("ignore")
        return function(*arguments)


def against(found, base, name, digits):
    """Mean, and the difference from the first with its standard error, paired by instance."""
    x, y = np.array(found[name]), np.array(base[name])
    if found is base:
        return f"{x.mean():.{digits}f}"
    d = x - y
    return f"{x.mean():.{digits}f} ({d.mean():+.{digits}f} ± {d.std(ddof=1) / np.sqrt(d.size):.{digits}f})"


def table(rows, columns, first):
    """A table with a column for each of the figures; each row is compared with the fixed kind that is else the same."""
    lines = ["| " + " | ".join([*first, *columns]) + " |", "|" + "---|" * len(first) + "--:|" * len(columns)]
    for one in rows:
        same = [name for name in first if name != "kind"]
        base = next(r for r in rows if r["kind"] == "fixed" and all(r[name] == one[name] for name in same))
        cells = [against(one, base, name, digits) for name, digits in columns.values()]
        lines.append("| " + " | ".join([*(one[name] for name in first), *cells]) + " |")
    return "\n".join(lines)


TEXT = {"log-likelihood": ("log-likelihood", 2)} | {
    f"{metric.upper()}, {name}": (f"{name} {metric}", 2) for name in DECODERS for metric in METRICS[:2]
}
FIRST = {"made-up": ("truth", "likelihood", "kind"), "registries": ("kind",)}
FIRST |= dict.fromkeys(("news", "papers"), ("features", "likelihood", "kind"))
COLUMNS = {
    "made-up": {"log-likelihood": ("log-likelihood", 3), "items found, %": ("agreement", 1)},
    "news": TEXT,
    "papers": TEXT,
    "registries": {"log-likelihood": ("log-likelihood", 3), "percentile of an item": ("percentile", 2)},
}


def tables(figures):
    """A table for each part of the study, by name."""
    return {which: table(rows, COLUMNS[which], FIRST[which]) for which, rows in figures.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", help=", ".join(COLUMNS))
    parser.add_argument("--data", type=Path, help="folder of the corpora")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", action="store_true", help="print the tables of what was found before")
    arguments = parser.parse_args()
    if unknown := set(arguments.which) - set(COLUMNS):
        parser.error(f"{unknown.pop()!r} is none of {', '.join(COLUMNS)}")
    figures = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    if not arguments.tables:
        pool = ProcessPoolExecutor(arguments.jobs) if arguments.jobs > 1 else None
        for which in arguments.which or list(COLUMNS):
            rows = figures.setdefault(which, [])
            for one in study(which, arguments.data, map if pool is None else pool.map, {named(r) for r in rows}):
                rows.append(rounded(one))
                print(which, one["kind"], one["likelihood"], one.get("seconds"), one.get("weights"), flush=True)
                lines = [f'"{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in figures.items()]
                arguments.out.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    for which, found in tables(figures).items():
        print(f"\n{which}\n\n{found}")


def rounded(x):
    """Figures to five digits."""
    if isinstance(x, dict):
        return {name: rounded(value) for name, value in x.items()}
    if isinstance(x, list):
        return [rounded(value) for value in x]
    return round(x, 5) if isinstance(x, float) else x


if __name__ == "__main__":
    main()
