"""Shopping baskets: which items come together, and which replace each other, from 3,000 baskets alone.

The baskets are made up: a breakfast has tea or coffee, hardly ever both, and what goes with it; other baskets are for
pasta, for baking, or for an evening. A DPP with a symmetric kernel finds what replaces what, and nothing else,
because it can only repel. A nonsymmetric one finds both. The baseline is counts of pairs, which complete baskets as
well, but are no distribution over baskets.
"""

import numpy as np

from dpplearn import KernelDPP
from dpplearn.baskets import Baskets, completion
from dpplearn.plots import plot_together
from dpplearn.plots.style import TWO_COLUMNS, new_figure, style
from options import read_options

PLANS = [["bread", "butter|margarine", "jam|honey", "tea|coffee", "milk"],
         ["pasta", "tomatoes|pesto", "parmesan", "wine"],
         ["flour", "eggs", "sugar|honey", "butter|margarine", "chocolate"],
         ["beer|wine", "crisps", "olives"]]  # fmt: skip


def shop(rng):
    """A basket: some of a plan, with one of what can replace each other, and now and then something else."""
    plan = PLANS[rng.choice(4, p=[0.45, 0.25, 0.15, 0.15])]
    found = {str(rng.choice(item.split("|"))) for item in plan if rng.random() < 0.55}
    if rng.random() < 0.3:
        found.add(str(rng.choice([item for plan in PLANS for some in plan for item in some.split("|")])))
    return sorted(found)


class Pairs:
    """The baseline: in how many baskets an item was with those given."""

    def __init__(self, baskets):
        found = Baskets.read(baskets)
        X = found.subsets.to_sparse()
        self.items_, self.counts = found.items, (X.T @ X).toarray()

    def next_scores(self, basket):
        return self.counts[basket].sum(axis=0)


def main(save=None):
    rng = np.random.default_rng(0)
    baskets = [shop(rng) for _ in range(4000)]
    train, test = baskets[1000:], baskets[:1000]
    models = {"pairs": Pairs(train), "symmetric": KernelDPP().fit(train)}
    models["nonsymmetric"] = KernelDPP(nonsymmetric=True).fit(train)
    for name, model in models.items():
        found = completion(model, test)
        fit = f", log-likelihood {model.score(test):.2f}" if name != "pairs" else ""
        print(f"{name:12s} ranks the item held out above {found.mpr:.1f}% of the others{fit}")
    for name in ("symmetric", "nonsymmetric"):
        instead, beside = (
            ", ".join(item for item, _ in f("tea", 3)) for f in (models[name].alike, models[name].together)
        )
        print(f"{name}: instead of tea {instead}; with tea {beside or 'nothing'}")
    for one in models["nonsymmetric"].together(k=3).attract:
        print(f"{one.first} and {one.second} come together {one.lift:.1f} times as often as by chance")
    print(
        "next to bread and tea:", ", ".join(item for item, _ in models["nonsymmetric"].recommend(["bread", "tea"], 3))
    )
    if save:
        plot(save, models)
    return models


@style()
def plot(save, models):
    figure, axes = new_figure(TWO_COLUMNS, 3.2, columns=2, width_ratios=(1, 1.5))
    plot_together(models["nonsymmetric"], "tea", axes[0], k=6)
    plot_together(models["nonsymmetric"], ax=axes[1])
    figure.savefig(save, dpi=160)


if __name__ == "__main__":
    main(**read_options(__doc__))
