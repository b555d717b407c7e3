"""KernelDPP: the scikit-learn estimator that learns the whole kernel of a DPP from baskets over one catalogue."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import Any, Self, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_between, check_int, count_of, warn_user
from dpplearn._io.jsonfile import number, numbers, read_json, whole_number, write_json
from dpplearn._run.progress import Progress, as_progress
from dpplearn.baskets.baskets import Baskets, Label, check_catalogue
from dpplearn.baskets.factors import LARGEST, KernelFactors
from dpplearn.baskets.fit import EPOCHS, ITERATIONS, LARGE, MANY_BASKETS, FitPlan, choose_shape, fit_kernel
from dpplearn.baskets.likelihood import KernelRows
from dpplearn.baskets.pairs import ItemPair, NextItem, RelatedItem, StrongestPairs, strongest_pairs
from dpplearn.dpp import DPP
from dpplearn.learning.summary import ModelSummary, Table
from dpplearn.lowrank import LowRankDPP
from dpplearn.nonsymmetric import NonsymmetricDPP

KERNEL_FORMAT, KERNEL_VERSION = "dpplearn.KernelDPP", 5  # of model files
SAVED = ("alpha", "log_likelihood", "n_iter", "converged", "n_empty", "n_baskets", "counts", "pairs")
LEAST_SHOWN = 0.0005  # a smaller correlation is 0 in three digits


class KernelDPP(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The kernel of a DPP over a catalogue, by maximum likelihood from baskets.

    A basket Y has probability det(L_Y) / det(L + I). With a symmetric kernel items can only repel each other; with
    `nonsymmetric=True`, L = diag(q) (S + A) diag(q) with A skew, and items can also attract each other.

    Parameters
    ----------
    rank : int, optional
        Rank of the symmetric part, and of the skew one. By default the whole kernel, up to 1,500 items: with
        `nonsymmetric`, the identity and 30 symmetric columns, and 100 skew ones. Beyond 1,500 items, 50 or the size of
        the largest basket.
    nonsymmetric : bool
        Whether items may attract each other.
    alpha : "cv" or float
        Strength of the prior, which pulls towards independent items: its log-density is -alpha (|U|^2 + |B|^2) / 2 with
        factors in units of q, whose squares are about the items' frequencies. Without the identity, |U^T U|^2 / 2
        replaces |U|^2. "cv" chooses alpha on a fifth of the baskets.
    tol : float
        Stop when an iteration raises the objective per basket by less, over ten of them.
    max_iter : int, optional
        Iterations of L-BFGS, by default 1,000; beyond three million parameters or 300,000 baskets, passes of Adam over
        the baskets, by default 10.
    random_state : int
        Seed of the start and the batches: the same seed gives the same kernel.
    progress : bool
        Show on standard error how far the fit is.

    Attributes
    ----------
    dpp_ : DPP, LowRankDPP or NonsymmetricDPP
    items_ : array
        The name of each item of `dpp_`.
    counts_ : array
        In how many baskets each item was.
    pairs_ : StrongestPairs
        The pairs that attract and repel each other most, up to 200 of each kind.
    factors_ : KernelFactors
        q, U and B.
    log_likelihood_ : float
        Of all baskets in the fit, without the prior.
    alpha_, alphas_ : float, dict
        Alpha, and the held-out log-likelihood per basket of each alpha that was tried.
    n_iter_, converged_ : int, bool
    n_baskets_, n_empty_ : int
        All baskets, and the empty ones among them.

    Examples
    --------
    >>> baskets = 30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]] + 10 * [["bib"], []]
    >>> model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets)
    >>> [item for item, _ in model.together("bib")], sorted(item for item, _ in model.alike("bib", 2))
    (['bottle'], ['cot', 'pram'])
    >>> model.recommend(["bib"], k=1)[0].item
    'bottle'
    """

    factors_: KernelFactors
    items_: np.ndarray
    counts_: FloatArray
    pairs_: StrongestPairs
    n_baskets_: int

    def __init__(
        self,
        rank: int | None = None,
        nonsymmetric: bool = False,
        alpha: float | str = "cv",
        *,
        tol: float = 3e-5,
        max_iter: int | None = None,
        random_state: int = 0,
        progress: bool | Progress = False,
    ) -> None:
        self.rank = rank
        self.nonsymmetric = nonsymmetric
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.progress = progress

    from_long = staticmethod(Baskets.from_long)

    def fit(self, baskets: Any, *, items: Sequence[Label] | None = None) -> Self:
        """Learn the kernel.

        Parameters
        ----------
        baskets : list of lists of names or numbers, Baskets, Subsets, or scipy sparse array of 0 and 1
            `KernelDPP.from_long(table, basket=..., item=...)` reads them from a long table.
        items : sequence, optional
            The catalogue; by default all items that occur. For Subsets and sparse arrays, names of their columns; by
            default their numbers.
        """
        read = Baskets.read(baskets, items)
        fitted = fit_kernel(read, self._plan(read))
        counts, n_empty = read.subsets.inclusion_counts().astype(np.float64), int((read.sizes == 0).sum())
        self._set(**fitted._asdict(), items=read.items, counts=counts, n_baskets=len(read), n_empty=n_empty)
        self.pairs_ = strongest_pairs(self.dpp_, read)
        if not fitted.converged:
            warn_user(
                f"fit stopped after {self.n_iter_} iterations, while the objective per basket still rose by more than "
                f"tol={self.tol:g}. Raise max_iter, or tol.",
                ConvergenceWarning,
            )
        return self

    def _plan(self, read: Baskets) -> FitPlan:
        """The settings of a fit, checked."""
        if len(read) == 0:
            raise ValueError("There are no baskets: at least one is needed to learn from.")
        shape = choose_shape(read.n, int(read.sizes.max()), self.rank, bool(self.nonsymmetric))
        in_batches = read.n * (1 + sum(shape[:2])) > LARGE or len(read) > MANY_BASKETS
        default = EPOCHS if in_batches else ITERATIONS
        return FitPlan(
            shape=shape,
            in_batches=in_batches,
            alpha=None if self.alpha == "cv" else check_between(self.alpha, "alpha", 0.0, np.inf),
            tol=check_between(self.tol, "tol", 0.0, np.inf),
            max_iter=default if self.max_iter is None else check_int(self.max_iter, "max_iter", low=1),
            seed=check_int(self.random_state, "random_state", high=None),
            progress=as_progress(self.progress),
        )

    def _set(self, **fitted: Any) -> None:
        """Set fitted attributes, and forget what was computed from those of another fit."""
        for name in ("dpp_", "_kernel"):
            self.__dict__.pop(name, None)
        for name, value in fitted.items():
            setattr(self, f"{name}_", value)

    @property
    def _fitted(self) -> KernelFactors:
        if not hasattr(self, "factors_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first, or load a file.")
        return self.factors_

    @cached_property
    def dpp_(self) -> DPP | LowRankDPP | NonsymmetricDPP:
        """The distribution with this kernel."""
        return self._fitted.distribution()

    @cached_property
    def _kernel(self) -> KernelRows:
        return self._fitted.kernel()

    def score(self, baskets: Any) -> float:
        """Mean log-likelihood per basket."""
        self._fitted  # noqa: B018  # raises an error without a fit
        read = Baskets.read(baskets, self.items_)
        if len(read) == 0:
            raise ValueError("There are no baskets to score.")
        return float(self.dpp_.log_prob(read.subsets).mean())

    def numbers(self, basket: Sequence[Label]) -> IntArray:
        """The numbers of items in `items_`, in the order given; an error if one is not there."""
        if isinstance(basket, str):
            raise TypeError(f"A basket must be a list of items, found the text {basket!r:.60}. Pass [{basket!r:.40}].")
        self._fitted  # noqa: B018  # raises an error without a fit
        return Baskets.read([list(basket)], self.items_).indices

    def next_scores(self, basket: IntArray) -> FloatArray:
        """det L_{J + i} / det L_J of every item i, for a basket J of item numbers; -inf for those in it."""
        return self._kernel.next_scores(basket)

    def recommend(self, basket: Sequence[Label] = (), k: int = 10, exclude: Sequence[Label] = ()) -> list[NextItem]:
        """The k most probable next items, each with its probability, given that exactly one more item comes.

        P(i | basket) is proportional to det L_{basket + i}; `exclude` names items that cannot come.
        """
        J, out, k = self.numbers(basket), self.numbers(exclude), check_int(k, "k", low=1, high=None)
        scores = np.maximum(self.next_scores(J), 0.0)
        scores[out] = 0.0
        if not scores.sum() > 0:
            given = f"{count_of(J.size, 'item', 'items')} with {out.size} excluded"
            raise ValueError(f"Nothing can follow {given}. Give a smaller basket, or fit with a larger rank.")
        best = np.argsort(-scores, kind="stable")[:k]
        return [NextItem(self.items_[i].item(), float(scores[i] / scores.sum())) for i in best if scores[i] > 0]

    def correlations_with(self, item: Label) -> FloatArray:
        """Correlation of having the item with having each other; 1 for itself."""
        i, every, dpp = self.numbers([item]), np.arange(self._fitted.n), self.dpp_
        # the covariance P_ij - P_i P_j is -K_ij K_ji, which a skew part makes positive
        covariance = -dpp.marginal_kernel(i, every)[0] * dpp.marginal_kernel(every, i)[:, 0]
        deviation = np.sqrt(dpp.marginals * (1 - dpp.marginals))
        scale = deviation[i] * deviation
        correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
        correlation[i] = 1.0
        return np.clip(correlation, -1.0, 1.0)

    def alike(self, item: Label, k: int = 10) -> list[RelatedItem]:
        """The items that replace an item: those with the most negative correlation.

        Correlations that are 0 in three digits are left out, here and in `together`.
        """
        return self._related(item, k, -1.0)

    @overload
    def together(self, item: None = None, k: int = 10) -> StrongestPairs: ...
    @overload
    def together(self, item: Label, k: int = 10) -> list[RelatedItem]: ...
    def together(self, item: Label | None = None, k: int = 10) -> StrongestPairs | list[RelatedItem]:
        """The items that come with an item most; without an item, the pairs that attract and repel each other most.

        They are ordered by the model's correlation of being in a basket. Pairs also have the counts and lifts of the
        data; pairs whose correlation is below what chance gives, 1 / sqrt(baskets), are left out. There are at most 200
        of each kind, of the 1,500 most frequent items. With a symmetric kernel nothing attracts.

        Examples
        --------
        >>> baskets = 30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]] + 10 * [["bib"], []]
        >>> model = KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets)
        >>> best = model.together(k=1).attract[0]
        >>> best.first, best.second, best.baskets, round(best.lift, 2)
        ('bib', 'bottle', 30.0, 2.75)
        """
        if item is not None:
            return self._related(item, k, 1.0)
        self._fitted  # noqa: B018  # raises an error without a fit
        k = check_int(k, "k", low=1, high=None)
        return StrongestPairs(self.pairs_.attract[:k], self.pairs_.repel[:k])

    def _related(self, item: Label, k: int, sign: float) -> list[RelatedItem]:
        strength = sign * self.correlations_with(item)
        strength[self.numbers([item])] = 0.0
        best = np.argsort(-strength, kind="stable")[: check_int(k, "k", low=1, high=None)]
        best = best[strength[best] >= LEAST_SHOWN]
        return [RelatedItem(self.items_[j].item(), float(sign * strength[j])) for j in best]

    def summary(self, most: int = 20) -> ModelSummary:
        """The numbers of baskets and items, how good the fit is, the most frequent items, and the strongest pairs.

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
        return ModelSummary("KernelDPP", facts, (items, *self.together(k=min(most, 10)).report().tables))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON, with its factors in base64, so that they are read fast."""
        from dpplearn import __version__

        factors, fitted = self._fitted, {name: getattr(self, f"{name}_") for name in SAVED}
        head = {"format": KERNEL_FORMAT, "version": KERNEL_VERSION, "written_by": f"dpplearn {__version__}"}
        head |= {"items": self.items_.tolist(), **vars(factors)}
        W = base64.b64encode(factors.W.astype("<f8").tobytes()).decode("ascii")
        write_json(path, {**head, "W": W, **fitted, "pairs": vars(self.pairs_)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelDPP:
        """Read a file that `save` wrote; it can run no code."""
        data = read_json(path, KERNEL_FORMAT, KERNEL_VERSION)
        items, identity = data.get("items"), data.get("identity")
        if not isinstance(items, list) or {type(item) for item in items} not in ({int}, {str}):
            raise ValueError(f"items in {path} must be texts, or whole numbers, found {items!r:.60}.")
        r, s = (whole_number(data.get(name), name, path) for name in ("symmetric_rank", "skew_rank"))
        if not isinstance(identity, bool) or s % 2 or (r == 0 and not identity):
            raise ValueError(f"No kernel has symmetric_rank={r}, skew_rank={s}, identity={identity!r:.60}: see {path}.")
        try:
            W = np.frombuffer(base64.b64decode(data.get("W", ""), validate=True), "<f8").reshape(len(items), 1 + r + s)
        except (TypeError, ValueError):
            raise ValueError(f"W in {path} must be {len(items)} rows of {1 + r + s} numbers, in base64.") from None
        if not (np.abs(W[:, 0]).max() <= LARGEST and np.abs(W).max() <= 1e100):  # or nan
            raise ValueError(f"W in {path} has entries too large for a kernel.")
        data["counts"] = numbers(data.get("counts"), "counts", path, len(items))
        data["converged"] = data.get("converged") is True
        checks = {number: ("alpha", "log_likelihood", "n_baskets"), whole_number: ("n_iter", "n_empty")}
        for check, names in checks.items():
            data |= {name: check(data.get(name), name, path) for name in names}
        try:
            kinds = (data["pairs"][kind] for kind in ("attract", "repel"))
            pairs = (tuple(ItemPair(a, b, *map(float, rest)) for a, b, *rest in kind) for kind in kinds)
            data["pairs"] = StrongestPairs(*pairs)
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"pairs in {path} must be item, item, correlation, baskets, lift, in two lists.") from None
        model = cls(None if identity or r >= len(items) else r, s > 0, data["alpha"])
        fitted = {name: data[name] for name in SAVED}
        model._set(factors=KernelFactors(W, r, s, identity), items=check_catalogue(items), alphas={}, **fitted)
        return model
