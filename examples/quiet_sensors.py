"""Sensors that disturb each other: which sets are on, by a Markov random field of 60 items and the DPP nearest to it.

Each sensor is worth something, and two that are near are worth less together: a pairwise field over 2^60 sets, too many
to list. The nearest DPP says how often each sensor is on, and its bound on log Z says how near it is. It is compared
with annealing in long chains, which stands for the truth; the baseline is mean field, where sensors ignore each
other. The best set is the most probable one of the DPP.
"""

import numpy as np

from dpplearn.decoding import greedy_map
from dpplearn.mrf import PairwiseMRF, approximate
from dpplearn.plots.style import BLUE, GREY, TWO_COLUMNS, VERMILION, new_figure, style
from options import read_options


def make_sensors(n=60, seed=0):
    """Places in the unit square, and a field in which near sensors repel: w_ij = 2 log(1 - S_ij^2)."""
    rng = np.random.default_rng(seed)
    places = rng.random((n, 2))
    squares = ((places[:, None] - places) ** 2).sum(axis=2)
    S = 0.98 * np.exp(-squares / 0.02) * (1 - np.eye(n))
    worth = rng.normal(0.5, 0.7, n)
    return places, PairwiseMRF(worth, 2 * np.log1p(-(S**2)) * (S > 1e-3))


def main(save=None):
    places, mrf = make_sensors()
    truth = approximate(mrf, "ais", chains=2000, sweeps=400)
    on = truth.marginals
    found = {name: approximate(mrf, family) for name, family in (("DPP", "dpp"), ("mean field", "mean-field"))}
    print(f"log Z of 60 sensors by annealing {truth.log_normalizer:.2f}")
    for name, answer in found.items():
        wrong = np.abs(answer.marginals - on).mean()
        print(f"{name:11s} log Z >= {answer.log_normalizer:.2f}, marginals off by {wrong:.3f}")
    nearest = found["DPP"]
    print(f"DPP-like: {nearest.dpp_like}, {nearest.missed:.0%} of the dependence missed")
    best, alone = greedy_map(nearest.q).subset, np.flatnonzero(mrf.w > 0)
    print(f"best set    {best.size} sensors, score {mrf.score(best):.1f}")
    print(f"all good    {alone.size} sensors, score {mrf.score(alone):.1f}")
    if save:
        with style():
            figure, (left, right) = new_figure(TWO_COLUMNS, 3.2, columns=2)
            for (name, answer), colour in zip(found.items(), (BLUE, VERMILION), strict=True):
                left.scatter(on, answer.marginals, s=9, color=colour, linewidths=0, label=name)
            left.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
            left.set(xlabel="probability of being on, by long chains", ylabel="by the approximation")
            left.legend()
            right.scatter(*places.T, s=8, color="0.8", linewidths=0)
            right.scatter(*places[best].T, s=22, color=BLUE, linewidths=0)
            right.set(xticks=[], yticks=[], aspect="equal", title="The best set")
            figure.savefig(save, dpi=160)
    return found


if __name__ == "__main__":
    main(**read_options(__doc__))
