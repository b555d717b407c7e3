"""What a fit says of its outcome: impossible targets, weights at a bound, starts that disagree, what is unsettled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray, warn_user
from dpplearn.learning.solve import Optimum, largest
from dpplearn.learning.training_set import Survey

if TYPE_CHECKING:
    from dpplearn.learning.fit import FitSettings

RUNAWAY = 0.05  # a Newton step that still changes some item's log-quality by this much has not settled
SAME = 0.1  # log-posteriors that differ by less are of the same maximum
CURE = (
    "What is particular to each item makes every target possible: fit with nugget=0.01, say, or "
    'with similarity="mixture", which learns how much of it there is.'
)


def check_possible(survey: Survey, on_impossible: str) -> None:
    """Raise, or say what is left out."""
    bad, n = survey.impossible, survey.n_instances
    first = "; ".join(f"instance {t}: {why}" for t, why in bad[:3]) + ("; ..." if len(bad) > 3 else "")
    if bad and on_impossible == "error":
        raise ValueError(
            f"{len(bad)} of {n} targets have probability 0 whatever the weights are ({first}). {CURE} Or take one of "
            'the items out of the target, or leave these instances out: on_impossible="drop".'
        )
    if survey.weight == 0:
        raise ValueError(
            f"All targets that count have probability 0 ({first}): no instance is left to learn from. {CURE}"
            if bad
            else "All sample_weight are 0: at least one instance must count."
        )
    if survey.n_chosen in (0.0, survey.n_items):
        which = "No item is chosen in any" if survey.n_chosen == 0 else "All items are chosen in each"
        warn_user(f"{which} of the {n} instances, so that nothing tells a good item from a bad one. Check y.")
    named = {"own": "what is particular to each item", "all": "the constant 11^T"}
    for a, b in sorted(survey.same_parts):
        warn_user(
            f"The similarity part {b!r} is the same matrix as {named.get(a, f'the part {a!r}')} in every instance: "
            f"only the sum of their weights counts. Leave {b!r} out."
        )
    if bad:
        warn_user(f"Left out {len(bad)} of {n} instances, whose targets have probability 0 ({first}). {CURE}")


def warn_about_weights(at_bound: Sequence[str]) -> None:
    """Say which weights of a mixture are at 0."""
    if at_bound:
        named = ", ".join(at_bound[:5]) + (f" and {len(at_bound) - 5} more" if len(at_bound) > 5 else "")
        warn_user(
            f"The learned similarity has weights so near 0 that the data do not tell them from 0: {named}. Their "
            "standard errors are not known; that may be so because there is none of these, or too few instances."
        )


def warn_about_starts(values: FloatArray) -> None:
    """Say whether most starts of a mixture ended below the best: then there may be a better one still."""
    gap = values.max(initial=-np.inf) - values
    if 2 * int((gap > SAME).sum()) > gap.size:
        warn_user(
            f"{int((gap > SAME).sum())} of {gap.size} starts end in a lower maximum, or were left on their way to "
            f"one, by up to {gap.max():.3g} in the log-posterior. The best of them is kept, and there may be a better "
            'one: learn from more data, or with similarity="fixed".'
        )


def warn_unless_settled(
    best: Optimum,
    theta: FloatArray,
    std: FloatArray,
    free: np.ndarray,
    scale: FloatArray,
    names: Sequence[str],
    settings: FitSettings,
) -> bool:
    """Whether theta is a maximum; if not, warn which weights are not settled and what to do. `free` have no prior."""
    step = best.step[: theta.size] if best.step.size else np.zeros(theta.size)
    # A large step from small weights only says that the solver was stopped, or told to be content, too soon.
    far = np.abs(theta) * scale > (5.0 if best.converged else 15.0)
    running = free & far & (np.abs(step) * scale > RUNAWAY) & (theta * step > 0)
    if running.any():
        found = ", ".join(
            f"{names[j]} ({theta[j]:+.1f} and {'rising' if step[j] > 0 else 'falling'})"
            for j in np.flatnonzero(running).tolist()
        )
        warn_user(
            f"These weights run away to infinity, because the data separate on them and they have no prior: {found}. "
            "Give them a finite prior_variance, or leave the features out.",
            ConvergenceWarning,
        )
        return False
    if not best.converged:
        warn_user(
            f"fit stopped after {best.n_iter} iterations with a gradient of {largest(best.point.gradient):.2g}, "
            f"above tol={settings.tol:g}. Raise max_iter ({settings.max_iter}), or tol.",
            ConvergenceWarning,
        )
    elif np.isinf(std).any():
        found = ", ".join(names[j] for j in np.flatnonzero(np.isinf(std)).tolist())
        warn_user(
            f"The data do not determine the weights of {found}: the columns are zero or collinear, and without a prior "
            "other weights fit as well. Their standard errors are infinite; give them a finite prior_variance."
        )
    return best.converged
