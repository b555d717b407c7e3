"""Photos for an album: sharp ones, of many kinds, from their embeddings.

A camera roll has 120 small photos (handwritten digits stand in), most of them of a few kinds, as on any camera. The
sharpest eight show 3 of the 8 kinds or so; `diversify` takes sharpness as score and a network's hidden layer as
embedding, knows nothing of kinds, and shows more of them. MMR does the same. Both give up some
sharpness: the picture shows how much, over 50 rolls, for all values of their knobs.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neural_network import MLPClassifier

from dpplearn import diversify
from dpplearn.plots.style import BLUE, GREY, ORANGE, TWO_COLUMNS, new_figure, style
from mmr import mmr
from options import read_options

N, K, ROLLS, KNOBS = 120, 8, 50, np.linspace(0.1, 0.9, 9)


def embed(data):
    """The hidden layer of a network trained on every other image: an embedding of images it has not seen."""
    network = MLPClassifier((32,), max_iter=2000, random_state=0).fit(data.data[::2] / 16, data.target[::2])
    return np.maximum(data.data[1::2] / 16 @ network.coefs_[0] + network.intercepts_[0], 0)


def main(save=None):
    rng, data = np.random.default_rng(0), load_digits()
    E, kinds, images = embed(data), data.target[1::2], data.images[1::2]
    sharp = sum(np.abs(np.diff(images, axis=axis)).sum(axis=(1, 2)) for axis in (1, 2))
    found = {name: [] for name in ("sharpest", "MMR", "DPP")}  # (kinds, sharpness) by roll and knob
    for _ in range(ROLLS):
        share = rng.dirichlet(np.full(10, 0.5))[kinds]
        roll = rng.choice(kinds.size, N, replace=False, p=share / share.sum())
        scores, S = sharp[roll], cosine_similarity(E[roll])
        rank = scores.argsort().argsort() / (N - 1)  # 1: the sharpest of the roll
        sets = {"sharpest": [np.argsort(-scores)[:K]], "MMR": [mmr(scores, S, 1 - x, k=K) for x in KNOBS]}
        sets["DPP"] = [diversify(E[roll], scores, k=K, diversity=x).subset for x in KNOBS]
        for name, chosen in sets.items():
            found[name].append([(np.unique(kinds[roll[Y]]).size, rank[Y].mean()) for Y in chosen])
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    middle = len(KNOBS) // 2  # the default of diversify, 0.5
    for name, values in means.items():
        kinds_shown, sharpness = values[middle % len(values)]
        print(f"{name:9s} {kinds_shown:.1f} kinds in {K} photos, sharper than {sharpness:.0%} of the roll")
    if save:
        plot(save, means, {name: images[roll[np.asarray(Y[middle % len(Y)])]] for name, Y in sets.items()})
    return {name: values[middle % len(values)] for name, values in means.items()}


@style()
def plot(save, means, albums):
    figure, (left, right) = new_figure(TWO_COLUMNS, 2.7, columns=2, width_ratios=(1.3, 1))
    rows = [np.hstack([np.pad(photo, 1) for photo in photos]) for photos in albums.values()]
    left.imshow(np.vstack(rows), cmap="gray_r")
    left.set(xticks=[], yticks=[5 + 10 * row for row in range(len(rows))], yticklabels=albums)
    left.spines[:].set_visible(False)
    left.set_title("one roll", loc="left")
    left.tick_params(length=0)
    for (name, values), color in zip(means.items(), (GREY, ORANGE, BLUE), strict=True):
        right.plot(*values.T, "o-", color=color, label=name)
    right.set(xlabel=f"kinds among the {K}", ylabel="sharper than this share of the roll")
    right.set_title(f"{ROLLS} rolls, knobs from 0.1 to 0.9", loc="left")
    right.legend(loc="lower left")
    figure.savefig(save, dpi=160)


if __name__ == "__main__":
    main(**read_options(__doc__))
