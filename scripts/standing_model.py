"""Learn the weights of the model that tells sentences from fragments, and measure it: docs/summarization.md has both.

python scripts/standing_model.py            # train on dev.tsv and more.tsv, write data/standing.json, print figures
python scripts/standing_model.py --measure  # the figures of the weights that are there, on dev.tsv and held.tsv
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from dpplearn.summarize.text.standing import LEAST, features, is_standing

ROOT = Path(__file__).parents[1]
LINES = ROOT / "tests" / "summarize" / "lines"
WEIGHTS = ROOT / "src" / "dpplearn" / "summarize" / "data" / "standing.json"
INVERSE_PRIOR = 2.0  # by ten-fold cross-validation on dev.tsv: 1, 2 and 4 are within a line in a hundred


def read(name: str) -> list[tuple[bool, str, str]]:
    """The lines of a file: whether it is a sentence, its kind, its text."""
    rows = (line.split("\t", 2) for line in (LINES / name).read_text("utf-8").splitlines() if line.strip())
    return [(label == "sentence", kind, text) for label, kind, text in rows]


def matrix(texts: list[str], names: list[str]) -> np.ndarray:
    found = [features(text) for text in texts]
    return np.array([[one.get(name, 0.0) for name in names] for one in found])


def train() -> None:
    rows = read("dev.tsv") + read("more.tsv")
    names = sorted({name for _, _, text in rows for name in features(text)})
    X, y = matrix([text for _, _, text in rows], names), np.array([label for label, _, _ in rows])
    model = LogisticRegression(C=INVERSE_PRIOR, max_iter=5_000)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    likely = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
    for threshold in (0.3, 0.4, 0.5):
        print(f"ten-fold, from {threshold}:", figures(y, likely >= threshold))
    guessed = likely >= LEAST
    for right, guess, (_, kind, text) in zip(y, guessed, rows, strict=True):
        if right != guess and "--show" in sys.argv:
            print("  ", "sentence" if right else "fragment", kind, text, sep="\t")
    model.fit(X, y)
    weights = {"constant": round(float(model.intercept_[0]), 3)}
    weights |= {name: round(float(w), 3) for name, w in zip(names, model.coef_[0], strict=True)}
    text = {"trained_on": f"tests/summarize/lines/dev.tsv and more.tsv, {len(rows)} lines", "weights": weights}
    WEIGHTS.write_text(json.dumps(text, indent=1, ensure_ascii=False) + "\n", "utf-8")


def figures(y: np.ndarray, guessed: np.ndarray) -> str:
    both = int((y & guessed).sum())
    return f"{y.size} lines, precision {both / guessed.sum():.3f}, recall {both / y.sum():.3f}"


def measure() -> None:
    for name in ("dev.tsv", "held.tsv"):
        rows = read(name)
        y, guessed = np.array([row[0] for row in rows]), np.array([is_standing(row[2]) for row in rows])
        print(f"{name}: {figures(y, guessed)}")
        other = np.array([":" in row[1] for row in rows])
        print(f"  other languages: {figures(y[other], guessed[other])}")
        wrong = Counter(row[1].split(":")[0] for row, a, b in zip(rows, y, guessed, strict=True) if a != b)
        print(f"  wrong by kind: {dict(wrong.most_common())}")


if __name__ == "__main__":
    measure() if "--measure" in sys.argv else train()
