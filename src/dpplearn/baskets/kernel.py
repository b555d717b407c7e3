"""KernelDPP: the whole kernel of a DPP from baskets over one catalogue, scikit-learn style."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray, check_choice, check_int, check_jobs, count_of, warn_user
from dpplearn._notebook import card, in_notebook
from dpplearn._run.progress import Progress, as_progress
from dpplearn.baskets.baskets import Baskets, Label, check_weights
from dpplearn.baskets.fit import EPOCHS, ITERATIONS, LARGE, MANY, FitPlan, choose_shape, fit_kernel
from dpplearn.baskets.modelfile import load_factors, save_factors
from dpplearn.baskets.pairs import strongest_pairs
from dpplearn.baskets.questions import BasketQuestions
from dpplearn.learning.summary import ModelSummary, Table
from dpplearn.process import SHOWN

KEPT = ("alpha", "log_likelihood", "n_iter", "converged", "n_empty", "n_baskets", "counts", "pairs")


class KernelDPP(BasketQuestions, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The kernel of a DPP over a catalogue, by maximum likelihood from baskets.

    A basket Y has probability det(L_Y) / det(L + I). A symmetric kernel can only say that items keep apart; with
    `nonsymmetric=True`, L = diag(q) (S + A) diag(q) with A skew, which also says that they come together.

    Parameters
    ----------
    rank : int, optional
        Of the symmetric part, and of the skew one. By default the whole kernel, up to 1,500 items; beyond, 50, or the
        size of the largest basket.
    nonsymmetric : bool
        Whether items may attract.
    alpha : "cv" or float
        Strength of the prior, which draws towards independent items: the prior's log-density is
        -alpha (|U|^2 + |B|^2) / 2 with factors in units of q, whose squares are about the items' frequencies (for a
        rank below the number of items, |U^T U|^2 / 2 in place of |U|^2). "cv" tries some on a fifth of the baskets.
    solver : {"auto", "lbfgs", "stochastic"}
        "lbfgs" uses all baskets in each iteration; "stochastic" uses batches, for large catalogues and many baskets,
        and needs a few times the memory of the factors. "auto" chooses by size.
    tol : float
        Stop when an iteration raises the objective per basket by less, over ten of them.
    max_iter : int, optional
        Iterations; passes over the baskets for "stochastic". Default 1,000, and 10 passes.
    random_state : int
        For the start and the batches: the same seed gives the same kernel.
    n_jobs : int
        Threads for many different baskets; -1 for all cores. The kernel is the same, whatever their number.
    progress : bool
        Show on standard error how far the fit is.

    Attributes
    ----------
    dpp_ : DPP, LowRankDPP or NonsymmetricDPP
    items_ : array
        The name of each item of `dpp_`.
    counts_ : array
        In how many baskets each item was (the sum of their weights).
    pairs_ : StrongestPairs
        The pairs that attract and repel each other most, and those that the model misses, up to 200 of each kind.
    factors_ : KernelFactors
        q, U and B.
    log_likelihood_ : float
        Of the baskets it was fitted on, without the prior.
    alpha_ : float
    alphas_ : dict
        Held-out log-likelihood per basket of each alpha that was tried.
    n_iter_ : int
    converged_ : bool
    n_baskets_, n_empty_ : float and int
        All baskets (the sum of their weights), and those that were empty, which count.

    Examples
    --------
    >>> baskets = 30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]] + 10 * [["bib"], []]
    >>> model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets)
    >>> [item for item, _ in model.together("bib")], sorted(item for item, _ in model.alike("bib", 2))
    (['bottle'], ['cot', 'pram'])
    >>> model.recommend(["bib"], k=1)[0].item
    'bottle'
    """

    def __init__(
        self,
        rank: int | None = None,
        nonsymmetric: bool = False,
        alpha: float | str = "cv",
        solver: str = "auto",
        *,
        tol: float = 3e-5,
        max_iter: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = 1,
        progress: bool | Progress = False,
    ) -> None:
        self.rank = rank
        self.nonsymmetric = nonsymmetric
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    from_long = staticmethod(Baskets.from_long)

    def fit(
        self,
        baskets: Any,
        sample_weight: ArrayLike | None = None,
        *,
        items: Sequence[Label] | None = None,
    ) -> Self:
        """Learn the kernel.

        Parameters
        ----------
        baskets : list of lists of names or numbers, Baskets, Subsets, or scipy sparse array of 0 and 1
            `KernelDPP.from_long(table, basket=..., item=...)` makes them of a long table.
        sample_weight : array, optional
            How often each basket counts.
        items : sequence, optional
            The catalogue; by default all items that occur. For Subsets and sparse arrays, names of their columns; by
            default their numbers.
        """
        read = Baskets.read(baskets, items)
        if read.n_repeated:
            many = count_of(read.n_repeated, "basket holds", "baskets hold")
            warn_user(f"{many} an item more than once; it counts once.")
        weights = check_weights(sample_weight, len(read))
        fitted, alpha, alphas = fit_kernel(read, weights, self._plan(read, weights))
        shard = read.distinct(weights)
        self._set(
            factors=fitted.factors,
            items=read.items,
            counts=shard.item_counts(read.n),
            n_baskets=float(weights.sum()),
            n_empty=int((read.sizes == 0).sum()),
            alpha=alpha,
            alphas=alphas,
            log_likelihood=fitted.log_likelihood,
            n_iter=fitted.n_iter,
            converged=fitted.converged,
        )
        self.pairs_ = strongest_pairs(self.dpp_, read.items, self.counts_, self.n_baskets_, shard)
        if not fitted.converged:
            warn_user(
                f"fit stopped after {self.n_iter_} iterations, while they still raised the objective by more than "
                f"tol={self.tol:g} per basket. Raise max_iter, or tol.",
                ConvergenceWarning,
            )
        return self

    def _plan(self, read: Baskets, weights: FloatArray) -> FitPlan:
        """The settings of a fit, checked."""
        if len(read) == 0:
            raise ValueError("There are no baskets: at least one is needed to learn from.")
        if not isinstance(self.nonsymmetric, bool | np.bool_):
            raise TypeError(f"nonsymmetric must be True or False, found {self.nonsymmetric!r:.40}.")
        cv = isinstance(self.alpha, str) and self.alpha == "cv"
        shape = choose_shape(read.n, int(read.sizes[weights > 0].max()), self.rank, bool(self.nonsymmetric))
        solver = check_choice(self.solver, "solver", ("auto", "lbfgs", "stochastic"))
        if solver == "auto":
            large = read.n * (1 + sum(shape[:2])) > LARGE or len(read) > MANY
            solver = "stochastic" if large else "lbfgs"
        default = EPOCHS if solver == "stochastic" else ITERATIONS
        return FitPlan(
            shape=shape,
            solver=solver,
            alpha=None if cv else check_strength(self.alpha, 'alpha must be "cv" or'),
            tol=check_strength(self.tol, "tol must be"),
            max_iter=default if self.max_iter is None else check_int(self.max_iter, "max_iter", low=1),
            seed=check_int(self.random_state, "random_state", high=None),
            n_jobs=check_jobs(self.n_jobs),
            progress=as_progress(self.progress),
        )

    def _set(self, **fitted: Any) -> None:
        """Attributes with an underscore, in place of those of another fit and what was computed from them."""
        for name in ("dpp_", "_kernel", "_diagonal"):
            self.__dict__.pop(name, None)
        for name, value in fitted.items():
            setattr(self, f"{name}_", value)

    def _repr_html_(self) -> str:
        """What a notebook shows: how much was learned, and the items that are expected most."""
        if not hasattr(self, "factors_"):
            return card(repr(self), facts={"state": "not fitted"})
        if len(self.items_) > SHOWN:
            return card("KernelDPP", facts={"items": len(self.items_), "log-likelihood": float(self.log_likelihood_)})
        return self.summary()._repr_html_()

    _repr_mimebundle_ = in_notebook

    def score(self, baskets: Any, sample_weight: ArrayLike | None = None) -> float:
        """Mean log-likelihood per basket."""
        self._fitted  # noqa: B018  # says that there is nothing to ask
        read = Baskets.read(baskets, self.items_)
        weights = check_weights(sample_weight, len(read))
        if len(read) == 0:
            raise ValueError("There are no baskets to score.")
        counted = np.flatnonzero(weights)  # a basket of weight 0 may be impossible
        return float(weights[counted] @ self.dpp_.log_prob(read.take(counted).subsets) / weights.sum())

    def summary(self, most: int = 20) -> ModelSummary:
        """How many baskets and items, how good the fit is, the most frequent items, and the strongest pairs.

        Examples
        --------
        >>> baskets = 30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]] + 10 * [["bib"], []]
        >>> print(KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets).summary(most=1))  # doctest: +ELLIPSIS
        KernelDPP
        baskets: 110, of 1.18 items on average (10 empty)
        items: 4
        kernel: nonsymmetric, 4 symmetric and 4 skew columns beside the identity
        alpha: 1
        log-likelihood: -217.531, -1.9776 per basket
        iterations: ...
        <BLANKLINE>
        item (1 most frequent of 4)  baskets   share   model
        ---------------------------  -------  ------  ------
        bib                               40  0.3636  0.3637
        ...
        """
        factors, p, most = self._fitted, self.dpp_.marginals, check_int(most, "most", low=1)
        n, N = factors.n, self.n_baskets_
        kind = f"nonsymmetric, {factors.symmetric_rank} symmetric and {factors.skew_rank} skew columns"
        facts = {
            "baskets": f"{N:g}, of {self.counts_.sum() / N:.2f} items on average ({self.n_empty_} empty)",
            "items": f"{n}",
            "kernel": (kind if factors.skew_rank else f"symmetric, {factors.symmetric_rank} columns")
            + (" beside the identity" if factors.identity else ""),
            "alpha": f"{self.alpha_:g}" + (", chosen on held-out baskets" if self.alphas_ else ""),
            "log-likelihood": f"{self.log_likelihood_:.6g}, {self.log_likelihood_ / N:.4f} per basket",
            "iterations": f"{self.n_iter_}{'' if self.converged_ else ', and not converged'}",
        }
        best = np.argsort(-self.counts_, kind="stable")[:most].tolist()
        rows = tuple(
            (str(self.items_[i]), f"{self.counts_[i]:g}", f"{self.counts_[i] / N:.4f}", f"{p[i]:.4f}") for i in best
        )
        title = "item" if n <= most else f"item ({most} most frequent of {n})"
        items = Table(title, ("baskets", "share", "model"), rows)
        pairs = self.together(k=min(most, 10)).report()
        return ModelSummary("KernelDPP", {**facts, **pairs.facts}, (items, *pairs.tables))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON, with arrays in base64."""
        save_factors(path, self._fitted, self.items_, {name: getattr(self, f"{name}_") for name in KEPT})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelDPP:
        """Read a file that `save` wrote; nothing in it can run."""
        factors, items, data = load_factors(path)
        whole = factors.identity or factors.symmetric_rank >= factors.n
        model = cls(None if whole else factors.symmetric_rank, factors.skew_rank > 0, data["alpha"])
        model._set(factors=factors, items=items, alphas={}, **{name: data[name] for name in KEPT})
        return model


def check_strength(x: Any, name: str) -> float:
    """A number that is not negative."""
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 <= x < np.inf:
        raise ValueError(f"{name} a number that is not negative, found {x!r:.40}.")
    return float(x)
