"""Learning from subsets: draw subsets from known weights, learn the weights back, and see how far off they are.

The error of a weight learned by `ConditionalDPP` falls like 1 / sqrt(T) with T examples, and its 95 % intervals hold
the true weight about 95 % of the time. Logistic regression, which takes each item by itself, stays off however many
examples it sees: a good item is often missing from a set because another like it was there.

`--repeats 200` makes the table and the figure of docs/learning-details.md.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.plots.style import BLUE, GREY, TWO_COLUMNS, VERMILION, new_figure, style
from options import read_options

THETA = np.array([-1.0, 0.8, -0.5, 0.3])
SIZES = np.array([25, 50, 100, 200, 400])
N_ITEMS, N_DIRECTIONS = 12, 8


def draw_instance(rng):
    """Twelve items with a constant and three random features, and a subset from the true model."""
    F = np.column_stack([np.ones(N_ITEMS), rng.standard_normal((N_ITEMS, THETA.size - 1))])
    items = ItemSet(F, phi=rng.standard_normal((N_ITEMS, N_DIRECTIONS)))
    truth = DPP.from_quality(np.exp(F @ THETA / 2), items.similarity_matrix())
    return items, truth.sample(1, rng=rng, n_jobs=1)[0]


def learn(T, rng):
    """Errors of the weights of the DPP and of logistic regression, and whether the DPP's intervals hold the truth."""
    X, y = zip(*(draw_instance(rng) for _ in range(T)), strict=True)
    model = ConditionalDPP(prior_variance=100.0).fit(X, y)
    low, high = model.intervals(0.95).T
    F, chosen = np.concatenate([items.features for items in X]), [i in Y for Y in y for i in range(N_ITEMS)]
    alone = LogisticRegression(C=100.0, fit_intercept=False).fit(F, chosen)
    return model.theta_ - THETA, alone.coef_[0] - THETA, (low <= THETA) & (high >= THETA)


def main(save=None, repeats=10):
    rng, rows = np.random.default_rng(2011), []
    print("| T | error, DPP | error × √T | intervals that hold the truth | error, logistic |\n|--:|--:|--:|--:|--:|")
    for T in SIZES:
        dpp, alone, held = (np.array(values) for values in zip(*(learn(T, rng) for _ in range(repeats)), strict=True))
        rms, rms_alone = np.sqrt((dpp**2).mean()), np.sqrt((alone**2).mean())
        rows.append((rms, held.mean(), rms_alone))
        print(f"| {T} | {rms:.3f} | {rms * np.sqrt(T):.2f} | {held.mean():.1%} | {rms_alone:.3f} |", flush=True)
    if save:
        plot(save, *np.transpose(rows))
    return np.array(rows)


@style()
def plot(save, rms, coverage, rms_alone):
    figure, (left, right) = new_figure(TWO_COLUMNS, 2.7, columns=2)
    left.loglog(SIZES, rms_alone, "s-", color=VERMILION, label="logistic regression")
    left.loglog(SIZES, rms, "o", color=BLUE, label="ConditionalDPP")
    left.loglog(SIZES, rms[0] * np.sqrt(SIZES[0] / SIZES), "--", color=GREY, label=r"$1/\sqrt{T}$")
    left.set(
        ylabel="root mean square error of a weight", yticks=[0.05, 0.1, 0.2, 0.4], yticklabels=[0.05, 0.1, 0.2, 0.4]
    )
    left.legend(loc="lower left")
    right.axhspan(93, 97, color=BLUE, alpha=0.12, lw=0, label="93 to 97 %")
    right.semilogx(SIZES, 100 * coverage, "o", color=BLUE, label="ConditionalDPP")
    right.set(ylabel="95 % intervals that hold the truth (%)", ylim=(88, 100))
    right.legend(loc="lower right")
    for ax in (left, right):
        ax.minorticks_off()
        ax.set(xlabel="examples T", xticks=SIZES, xticklabels=SIZES)
    figure.savefig(save, dpi=160)


if __name__ == "__main__":
    main(**read_options(__doc__, repeats=10))
