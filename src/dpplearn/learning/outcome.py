"""What a fit says of its outcome: targets that cannot be, parameters at their bounds, weights that nothing holds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray
from dpplearn.learning.evaluators import Survey
from dpplearn.learning.similarity import Similarity
from dpplearn.learning.solvers import RUNAWAY, Optimum, largest

LEVEL = 5  # of the caller of `fit`


def report_impossible(survey: Survey, on_impossible: str) -> None:
    """Raise, or say what is left out."""
    bad = survey.impossible
    if not bad:
        return
    first = "; ".join(f"instance {t}: {why}" for t, why in bad[:3]) + ("; ..." if len(bad) > 3 else "")
    if on_impossible == "error":
        raise ValueError(
            f"{len(bad)} of {survey.n_instances} targets have probability 0 whatever the weights are ({first}). "
            "Fit with nugget=0.01, say, or learn_nugget=True: what is particular to each item makes every target "
            'possible. Or take one of the items out of the target, or leave these instances out: on_impossible="drop".'
        )
    if len(bad) == survey.n_instances:
        raise ValueError(
            f"All {survey.n_instances} targets have probability 0 ({first}): no instance is left to learn from."
        )
    warnings.warn(
        f"Left out {len(bad)} of {survey.n_instances} instances, whose targets have probability 0 ({first}).",
        stacklevel=LEVEL,
    )


def warn_about_bounds(similarity: Similarity, free: Sequence[int], rising: Sequence[str]) -> None:
    """Say which learned parameters of the similarity are at an end of where they may be."""
    for where in rising:
        message = (
            f"The likelihood still rises at {where}: the data say little about similarity. "
            "Set it instead of learning it."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=LEVEL)
    for j in free:
        parameter = similarity.space[j]
        if parameter.at_low and similarity.parameters[j] == parameter.low:
            message = f"The learned similarity is at the lower bound {parameter.at_low}."
            warnings.warn(message, stacklevel=LEVEL)


def warn_unless_settled(
    best: Optimum,
    precision: FloatArray,
    survey: Survey,
    names: Sequence[str],
    std: FloatArray,
    *,
    tol: float,
    max_iter: int,
) -> bool:
    """Whether theta is a maximum; if not, warn which weights are not settled and what to do."""
    free = precision == 0
    # A large step from small weights only says that the solver was stopped, or told to be content, too soon.
    free &= np.abs(best.theta) * survey.scale > (5.0 if best.converged else 15.0)
    running = free & (np.abs(best.step) * survey.scale > RUNAWAY) & (best.theta * best.step > 0)
    if running.any():
        found = ", ".join(
            f"{names[j]} ({best.theta[j]:+.1f} and {'rising' if best.step[j] > 0 else 'falling'})"
            for j in np.flatnonzero(running).tolist()
        )
        message = (
            f"These weights run away to infinity, because the data separate on them and they have no prior: {found}. "
            "Give them a finite prior_variance, or leave the features out."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=LEVEL)
        return False
    if not best.converged:
        message = (
            f"fit stopped after {best.n_iter} iterations with a gradient of {largest(best.terms.gradient):.2g}, "
            f"above tol={tol:g}. Raise max_iter ({max_iter}), or tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=LEVEL)
        return False
    if np.isinf(std).any():
        found = ", ".join(names[j] for j in np.flatnonzero(np.isinf(std)).tolist())
        message = (
            f"The data do not determine the weights of {found}: the columns are zero or collinear, and without a prior "
            "other weights fit as well. Their standard errors are infinite; give them a finite prior_variance."
        )
        warnings.warn(message, stacklevel=LEVEL)
    return True
