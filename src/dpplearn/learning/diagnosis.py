"""What a fit says of its outcome: impossible targets, weights at a bound, starts that disagree, what is unsettled."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray
from dpplearn.learning.evaluators import Survey
from dpplearn.learning.joint import SAME
from dpplearn.learning.outcome import Outcome
from dpplearn.learning.profile import Profile
from dpplearn.learning.solvers import RUNAWAY, Optimum, largest

WORTH_TELLING = 4.5  # a gain in the log-likelihood: three standard errors
PACKAGE = str(Path(__file__).parents[1])


def say(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the line of the caller's own that asked for the fit, through whatever of this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


CURE = (
    "What is particular to each item makes every target possible: fit with nugget=0.01, say, with learn_nugget=True, "
    'or with similarity="mixture", which learn how much of it there is.'
)


# where starts disagree; who fits for others says what these can do
ADVICE = ContextVar("ADVICE", default="Look at starts_; try a larger n_starts, or a stronger similarity_prior.")


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
        say(f"{which} of the {n} instances, so that nothing tells a good item from a bad one. Check y.")
    named = {"own": "what is particular to each item", "all": "the constant 11^T"}
    for a, b in sorted(survey.twins):
        say(
            f"The similarity part {b!r} is the same matrix as {named.get(a, f'the part {a!r}')} in every instance: "
            f"only the sum of their weights counts. Leave {b!r} out."
        )
    if bad:
        say(f"Left out {len(bad)} of {n} instances, whose targets have probability 0 ({first}). {CURE}")


def warn_about_size(
    survey: Survey, missing: float, gain: float, names: Sequence[str], theta: FloatArray, other: FloatArray
) -> None:
    """Say that the weights of a model without a constant had to set the size of sets too, where that shows.

    `missing` is the sum of |Y| - E|Y|.
    A constant would raise the log-posterior by `gain` and make the weights `other`.
    """
    if gain < WORTH_TELLING:
        return
    turned = [name for name, a, b in zip(names, theta.tolist(), other.tolist(), strict=True) if a * b < 0]
    signs = f", and change the signs of {', '.join(turned[:5])}{', ...' * (len(turned) > 5)}" if turned else ""
    mean, expected = survey.n_chosen / survey.weight, (survey.n_chosen - missing) / survey.weight
    say(
        "This model has no constant, so that the weights of its features have to set how many items are chosen too: it "
        f"expects {expected:.3g} in a set, and {mean:.3g} were chosen on average. A constant would raise the "
        f"log-likelihood by about {gain:.3g}{signs}. Leave constant=False out, or add a column of ones."
    )


def warn_about_bounds(profile: Profile, free: Sequence[int]) -> None:
    """Say which learned parameters of the similarity are at an end of where they may be."""
    for j in free:
        name, low, high, _, at_low, at_high = profile.similarity.space[j]
        if profile.rises(j):
            say(
                f"The likelihood still rises at {at_high or f'{name} = {high:g}'}: the data say little about "
                "similarity. Set it instead of learning it.",
                ConvergenceWarning,
            )
        if at_low and profile.best[j] == low:
            say(f"The learned similarity is at the lower bound {at_low}.")


def warn_about_starts(found: Outcome) -> None:
    """Say which weights are at 0, and whether the starts agree."""
    if found.at_bound:
        named = ", ".join(found.at_bound[:5]) + (
            f" and {len(found.at_bound) - 5} more" if len(found.at_bound) > 5 else ""
        )
        say(
            f"The learned similarity has weights so near 0 that the data do not tell them from 0: {named}. Their "
            "standard errors are not known; that may be so because there is none of these, or too few instances."
        )
    gap = found.starts.max() - found.starts
    if (gap > SAME).any():
        say(
            f"{int((gap > SAME).sum())} of {gap.size} starts end in a lower maximum, or were left on their way to "
            f"one, by up to {gap.max():.3g} in the log-posterior: there may be a better one. {ADVICE.get()}"
        )


def is_settled(
    best: Optimum,
    std: FloatArray,
    free: np.ndarray,
    scale: FloatArray,
    names: Sequence[str],
    tol: float,
    max_iter: int,
) -> bool:
    """Whether theta is a maximum; if not, warn which weights are not settled and what to do. `free` have no prior."""
    # A large step from small weights only says that the solver was stopped, or told to be content, too soon.
    far = np.abs(best.theta) * scale > (5.0 if best.converged else 15.0)
    running = free & far & (np.abs(best.step) * scale > RUNAWAY) & (best.theta * best.step > 0)
    if running.any():
        found = ", ".join(
            f"{names[j]} ({best.theta[j]:+.1f} and {'rising' if best.step[j] > 0 else 'falling'})"
            for j in np.flatnonzero(running).tolist()
        )
        say(
            f"These weights run away to infinity, because the data separate on them and they have no prior: {found}. "
            "Give them a finite prior_variance, or leave the features out.",
            ConvergenceWarning,
        )
        return False
    if not best.converged:
        say(
            f"fit stopped after {best.n_iter} iterations with a gradient of {largest(best.terms.gradient):.2g}, "
            f"above tol={tol:g}. Raise max_iter ({max_iter}), or tol.",
            ConvergenceWarning,
        )
    elif np.isinf(std).any():
        found = ", ".join(names[j] for j in np.flatnonzero(np.isinf(std)).tolist())
        say(
            f"The data do not determine the weights of {found}: the columns are zero or collinear, and without a prior "
            "other weights fit as well. Their standard errors are infinite; give them a finite prior_variance."
        )
    return best.converged
