"""Several starts, each climbed to its maximum.

Of two that lead to the same, by a straight way on which the posterior rises all along, only one is climbed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._run.progress import Progress
from dpplearn.learning.joint import Ascent, Point, Problem, Start, climb
from dpplearn.learning.outcome import Outcome, outcome
from dpplearn.learning.profile import Known
from dpplearn.learning.profile import Point as Done
from dpplearn.learning.solvers import largest
from dpplearn.learning.storage.checkpoint import Checkpoint

if TYPE_CHECKING:
    from dpplearn.learning.posterior import Settings


class Interrupted(NamedTuple):
    """Where a climb was that was interrupted, and whether it was the first: then it began at the best start."""

    theta: FloatArray
    parameters: FloatArray
    first: bool


def climb_learned(
    problem: Problem,
    theta: FloatArray,
    interrupted: Interrupted | None,
    n_iter: int,
    known: Known,
    settings: Settings,
    state: Checkpoint,
    progress: Progress,
) -> Outcome:
    """The maxima that all starts lead to.

    What a checkpoint has is kept: maxima that are known, and where a climb was interrupted.
    """
    m, S, tol = problem.m, problem.similarity, settings.tol
    vectors = S.starts()
    rng = np.random.default_rng(1)
    vectors += [vectors[0] + rng.standard_normal(vectors[0].size) for _ in range(settings.n_starts - len(vectors))]
    starts: list[Start] = []
    for vector in vectors[: 1 if settings.warm else settings.n_starts]:  # with a theta that is about right for it
        x = np.concatenate([starts[-1].x[:m], vector]) if starts else problem.join(theta, vector)
        starts.append(problem.along_theta(x, 0.1, 1 + 2 * (not starts)))
    starts.sort(key=lambda start: -(start.value or 0.0))  # the best first
    ends = list(range(len(starts)))  # which of the starts that follow each of them is

    def report(n_iter: int, x: FloatArray, point: Point) -> None:
        progress.finish(n_iter, point.terms.value, largest(point.gradient))
        state.save(*problem.split(x), n_iter, point.terms.value, known)

    def climb_here(problem: Problem, start: Start, beat: float) -> Ascent:
        nonlocal n_iter
        last = settings.max_iter + n_iter
        led = climb(problem, start, tol=tol, max_iter=last, report=report, n_iter=n_iter, beat=beat)
        n_iter = led.n_iter
        if led.point.hessian is not None or not S.bends:
            theta, there = problem.split(led.x)
            known[tuple(led.x[m:].tolist())] = Done(theta, led.point.value, led.point.gradient[m:], led.converged)
            state.save(theta, there, n_iter, led.point.terms.value, known)
        return led

    maxima = []
    for w, done in known.items():
        x = problem.join(done.parameters, np.array(w))
        point = problem.at(x, 2)
        maxima.append(Ascent(x, point._replace(hessian=problem.hessian(x, point)), n_iter, done.converged))
    ended = [S.with_parameters(to.x[m:]).parameters for to in maxima]
    if interrupted is not None and not any(np.allclose(interrupted.parameters, end) for end in ended):
        more = not interrupted.first  # which of the later starts it was of is not known: all of them are asked, too
        starts = [Start(problem.join(interrupted.theta, interrupted.parameters)), *starts[0 if more else 1 :]]
        ends = [k + more for k in ends]
    reached = climb_all(problem, starts, climb_here, maxima)
    return outcome(problem, [reached[k] for k in ends], maxima)


def climb_all(
    problem: Problem, starts: Sequence[Start], climb: Callable[..., Ascent], maxima: list[Ascent]
) -> list[Ascent]:
    """Where each start leads; the maxima that are found join those that are known."""
    reached = []
    for start in starts:
        led = leads_to(problem, start.x, maxima, start.value)
        if led is None:
            led = climb(problem, start, beat=max((to.point.value for to in maxima), default=-np.inf))
            if led.point.hessian is None:  # left half-way
                led = leads_to(problem, led.x, maxima, led.point.value) or led
            else:
                maxima.append(led)
        reached.append(led)
    return reached


def leads_to(problem: Problem, x: FloatArray, maxima: Sequence[Ascent], value: float | None = None) -> Ascent | None:
    """A maximum to which the posterior rises all along the straight way from x, as far as three steps show."""
    for to in maxima:
        if value is None:
            value = problem.at(x, 1, similarity=False).value
        before = value
        for t in (1 / 3, 2 / 3, 1.0):
            here = problem.at(x + t * (to.x - x), 1, similarity=False).value if t < 1 else to.point.value
            if not here > before:
                break
            before = here
        else:
            return to
    return None
