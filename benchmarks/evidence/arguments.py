"""Reads lists of arguments with their key points (ArgKP 2021), and measures which key points a choice covers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from dpplearn._checks import FloatArray, IntArray
from dpplearn.decoding.limits import BoolArray

FILE = "argkp_train.jsonl"
ALPHA = 0.5  # a further argument for a key point gains 1 - ALPHA times what the argument before it gained
KINDS = {  # feature: words whose share it is
    "stance words": "should must need never against ban right wrong bad good harm help better best worse allow protect",
    "negations": "not no never cannot without nobody nothing don't doesn't won't can't isn't",
    "reasons": "because since therefore so thus due cause causes lead leads result results",
    "hedges": "may might could can would often sometimes many some most",
    "first person": "i my me",
    "we": "we our us",
}
SMALL = (
    "the a an of to in is are be and or that it they for on with as by their this have has not will can we our who if "
    "from at do does"
)


@dataclass(frozen=True)
class ArgumentList:
    """The arguments of one side of a debate: their key points, similarity parts and features."""

    topic: str
    makes: BoolArray  # arguments x key points
    parts: dict[str, FloatArray]  # name: rows of length 1
    features: FloatArray

    @property
    def n(self) -> int:
        return len(self.makes)


def read_lists(data: Path, encode: bool = True) -> tuple[list[ArgumentList], list[str]]:
    """The lists of a folder, and the names of their features."""
    lines = (data / FILE).read_text(encoding="utf-8").strip().split("\n")
    encoder = load_encoder() if encode else None
    lists, names = [], list[str]()
    for record in map(json.loads, lines):
        texts = [item["text"] for item in record["items"]]
        makes = np.array([[point in item["intents"] for point in record["intents"]] for item in record["items"]])
        parts = similarity_parts(texts)
        if encoder is not None:
            rows = np.asarray(encoder.embed(texts), np.float64)
            parts["encoder"] = normalize(
                rows - rows.mean(axis=0)
            )  # without the mean, which all arguments of a list share
        columns = features(texts, record["topic"], parts)
        names, F = list(columns), np.column_stack(list(columns.values()))
        F = np.clip((F - F.mean(axis=0)) / np.maximum(F.std(axis=0), 1e-9), -3, 3)
        lists.append(ArgumentList(record["topic"], makes, parts, F))
    return lists, names


def load_encoder():
    """A sentence encoder whose weights come with its package, so that nothing is downloaded; None if not installed."""
    if find_spec("wordllama") is None:
        return None
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def similarity_parts(texts: list[str]) -> dict[str, FloatArray]:
    """Parts of the similarity from the texts of the list alone, as rows of length 1."""
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(texts)
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True).fit_transform(texts)
    directions = TruncatedSVD(min(20, len(texts) - 1, words.shape[1] - 1), random_state=0).fit_transform(words)
    return {"words": words.toarray(), "directions": normalize(directions), "letters": letters.toarray()}


def stem(word: str) -> str:
    return re.sub(r"(ies|ied|ing|ed|es|s|ly|ment|ion|ions)$", "", word) if len(word) > 4 else word


def features(texts: list[str], topic: str, parts: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Features of each argument by itself, and of its place among the arguments of its list."""
    tokens = [re.findall(r"[a-z']+", text.lower()) or [""] for text in texts]
    small = set(SMALL.split())
    stems = [[stem(word) for word in words if word not in small] or [""] for words in tokens]
    of_topic = {stem(word) for word in re.findall(r"[a-z']+", topic.lower()) if len(word) > 3}
    used: dict[str, int] = {}
    for words in stems:
        for word in set(words):
            used[word] = used.get(word, 0) + 1
    counts = [np.array([used[word] for word in words]) for words in stems]
    n = len(texts)

    columns = {"log length": np.log([len(words) for words in tokens])}
    for name, listed in KINDS.items():
        of_kind = set(listed.split())
        columns[name] = np.array([np.mean([word in of_kind for word in words]) for words in tokens])
    columns |= {
        "sentences": np.array([len(re.findall(r"[.!?]+", text)) for text in texts], np.float64),
        "words of the topic": np.array([len(of_topic & set(words)) for words in stems], np.float64),
        "specificity": np.array([np.log(n / c).mean() for c in counts]),
        "words nobody else uses": np.array([(c == 1).mean() for c in counts]),
        "words that some use": np.array([((c >= 2) & (c <= 0.12 * n)).mean() for c in counts]),
        "frequent words": np.array([(c > 0.25 * n).mean() for c in counts]),
    }
    for name, rows in parts.items():
        S = rows @ rows.T
        np.fill_diagonal(S, 0.0)
        nearest = np.sort(S, axis=1)
        columns |= {f"centrality, {name}": S.mean(axis=1), f"nearest, {name}": nearest[:, -1]}
        columns[f"five nearest, {name}"] = nearest[:, -5:].mean(axis=1)
    return columns


def recall(makes: BoolArray, order: IntArray) -> float:
    """Subtopic recall: the share of the key points that the chosen arguments make."""
    return float(makes[order].any(axis=0).mean())


def precision(makes: BoolArray, order: IntArray) -> float:
    """Intent-aware precision: the share of the chosen arguments that make a key point, averaged over key points."""
    return float(makes[order].mean())


def discounted(makes: BoolArray, order: IntArray) -> float:
    """The gain discounted by rank, where further arguments for the same key point gain less (see ALPHA)."""
    rows = makes[order].astype(np.float64)
    before = np.cumsum(rows, axis=0) - rows
    gains = (rows * (1 - ALPHA) ** before).sum(axis=1)
    return float(gains @ (1 / np.log2(np.arange(2, gains.size + 2))))


def ideal(makes: BoolArray, k: int) -> IntArray:
    """The greedy best order, as in Clarke et al. (2008)."""
    seen, order = np.zeros(makes.shape[1]), list[int]()
    for _ in range(min(k, len(makes))):
        gains = makes @ (1 - ALPHA) ** seen
        gains[order] = -1.0
        order.append(int(gains.argmax()))
        seen += makes[order[-1]]
    return np.array(order)


def alpha_ndcg(makes: BoolArray, order: IntArray) -> float:
    """alpha-nDCG at the number of chosen items."""
    return discounted(makes, order) / max(discounted(makes, ideal(makes, len(order))), 1e-12)


def covering_sets(makes: BoolArray, k: int, count: int, rng: np.random.Generator) -> list[IntArray]:
    """Sets of k arguments that all make a key point: in each round, one drawn at random for each key point."""
    sets = []
    for _ in range(count):
        chosen: list[int] = []
        while True:
            before = len(chosen)
            for point in rng.permutation(makes.shape[1]):
                left = np.setdiff1d(np.flatnonzero(makes[:, point]), chosen)
                if left.size and len(chosen) < k:
                    chosen.append(int(rng.choice(left)))
            if len(chosen) == before:
                break
        sets.append(np.sort(np.array(chosen)))
    return sets
