"""ConditionalDPP: the scikit-learn estimator that learns weights of quality features by maximum likelihood."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from dpplearn._notebook import card, in_notebook
from dpplearn._run.progress import Progress
from dpplearn.learning.fit import fit_weights
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor, fitted_from_weights
from dpplearn.learning.training_set import training_data


class ConditionalDPP(ConditionalPredictor, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Weights theta of the quality features, from examples of good subsets (sections 4 and 5).

    Maximizes sum of log P(Y_t | X_t) - sum of theta_j^2 / (2 prior_variance), concave in theta
    (Proposition 1), where P is the DPP with L_ij = q_i S_ij q_j and q_i = exp(theta . f_i / 2).

    Parameters
    ----------
    prior_variance : float or array of shape (m,), default 1.0
        Variance of the Gaussian prior on each weight, around 0. A vector gives each feature its own; numpy.inf or
        None means no prior.
    similarity : {"fixed", "mixture"}
        "fixed" is S with `rho` and `nugget`. "mixture" learns, together with theta, the weights of the named parts of
        the item sets, of a constant, and of the nugget.
    rho : float
        Value of the constant similarity feature of section 7.2: S_ij becomes (S_ij + rho^2) / (1 + rho^2).
    nugget : float
        The share of S that is particular to each item: S_ij of different items is multiplied by 1 - nugget. With a
        nugget above 0 every target is possible, even with duplicates or with more items than similarity features.
    constant : bool
        Whether to learn the weight of a constant 1, which sets how many items are chosen. None is added if the features
        span a constant already, such as a column of ones, or if the size is given. It comes first, is called
        "constant", and has a wide prior: log q^2 of the average item has variance 100. Without a constant, a feature's
        weight may take the wrong sign to make sets smaller or larger.
    given_size : bool
        Whether to learn from P(Y | |Y|), the likelihood given the size (a k-DPP), which is concave in theta too. For
        tasks whose size is fixed by design, and to learn the similarity apart from the size.
    on_impossible : {"error", "drop"}
        What to do with targets that have probability 0 for every theta, such as two duplicates.
    tol : float
        Stop when no entry of the gradient is larger.
    max_iter : int
        Iterations at most; if the similarity is learned, from each start.
    random_state : int
        Seed of the random starts.
    n_jobs : int or None
        Processes to spread the instances over; None or -1 for all cores.
    backend : {None, "dask"} or distributed.Client
        Where instances are evaluated; None means in `n_jobs` processes. The result is the same to 1e-9.
    progress : bool
        Show each iteration on standard error, with the log-likelihood and the largest entry of the gradient.

    Attributes
    ----------
    theta_ : array of shape (m,)
        The weights; that of an added constant comes first.
    theta_std_ : array of shape (m,)
        Standard errors by Laplace's method, from the inverse Hessian; joint with those of a learned similarity.
    covariance_ : array of shape (m, m) or None
        Of the weights, by Laplace's method; None if some weight is undetermined, or if it is not known.
    log_likelihood_ : float
        Sum of log P(Y_t | X_t) at theta_, without the prior.
    gradient_norm_ : float
        Largest entry of the gradient at theta_.
    n_sets_, n_items_ : int
        Instances in the training data, and the items of all of them; 0 if the weights were given.
    n_iter_ : int
    converged_ : bool
    rho_, nugget_ : float
    similarity_ : Similarity
        A record: `parameters`, `weights` by name and their `std`, the matrix of an item set.
    starts_ : array
        The log-posterior that each start reached, if the similarity is learned: their spread shows whether there are
        several maxima.
    quality_ : LogLinear
        A record: `log_q(items)`, and `contributions(items)`, what each feature adds to log q^2.
    feature_names_in_ : array of m strings
        Names of the weights: "constant" if one was added, then those of the item sets, or x0, x1, ...

    See Also
    --------
    ConditionalDPPCV : chooses the prior variance, the nugget and the kind of similarity.

    Examples
    --------
    >>> items = ItemSet([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], phi=[[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> model = ConditionalDPP(prior_variance=10.0).fit([items, items, items], [[1, 2], [2], [0, 2]])
    >>> model.theta_.round(2), model.theta_std_.round(2)
    (array([-0.01,  1.22]), array([1.38, 0.93]))
    >>> model.marginals(items).round(2)
    array([0.25, 0.54, 0.88])
    """

    def __init__(
        self,
        prior_variance: float | ArrayLike | None = 1.0,
        *,
        similarity: str = "fixed",
        rho: float = 0.0,
        nugget: float = 0.0,
        constant: bool = True,
        given_size: bool = False,
        on_impossible: str = "error",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int = 0,
        n_jobs: int | None = 1,
        backend: Any = None,
        progress: bool | Progress = False,
    ) -> None:
        self.prior_variance = prior_variance
        self.similarity = similarity
        self.rho = rho
        self.nugget = nugget
        self.constant = constant
        self.given_size = given_size
        self.on_impossible = on_impossible
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.backend = backend
        self.progress = progress

    def fit(
        self,
        X: Sequence[ItemSet] | Sequence[str | os.PathLike[str]],
        y: Sequence[ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        evaluator: Any = "numpy",
        work: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn theta from item sets X and the subset of each that was chosen.

        Parameters
        ----------
        X : list of ItemSet, or list of paths of shards
            For more data than fits in memory: paths of files that `save_shard` wrote, which hold the targets too. They
            are read one at a time, or kept in the memory of a cluster's workers.
        y : list of index arrays or boolean masks
            The chosen items of each; may be empty.
        sample_weight : array, optional
            How often each instance counts.
        evaluator : {"numpy", "torch"} or dpplearn.torch.evaluator.Batches
            "numpy" evaluates instances one by one, "torch" (`pip install dpplearn[torch]`) in batches, on a GPU if any,
            with the same result; `Batches("cuda:1")` names the device.
        work : path, optional
            Write the weights there after each iteration. A fit that finds the file goes on from it.
        """
        return self._keep(fit_weights(self, training_data(X, y, sample_weight), evaluator, work))

    @classmethod
    def from_weights(
        cls,
        theta: ArrayLike,
        *,
        rho: float = 0.0,
        nugget: float = 0.0,
        theta_std: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """A model with given weights, such as those of a logistic regression on the same features.

        Parameters
        ----------
        theta : array of shape (m,)
        rho, nugget : float
        theta_std : array of shape (m,), optional
            Standard errors, if they are known.
        names : sequence of m strings, optional
            Names of the features.

        Examples
        --------
        >>> items = ItemSet([[1.0], [2.0]], S=[[1.0, 0.5], [0.5, 1.0]])
        >>> ConditionalDPP.from_weights([0.0]).dpp(items).L
        array([[1. , 0.5],
               [0.5, 1. ]])
        """
        return cls(rho=rho, nugget=nugget)._keep(fitted_from_weights(theta, rho, nugget, theta_std, names))

    def _repr_html_(self) -> str:
        """What a notebook shows: the tables of `summary()` of a fitted model."""
        if not hasattr(self, "quality_"):
            return card(repr(self), facts={"state": "not fitted"})
        return self.summary()._repr_html_()

    _repr_mimebundle_ = in_notebook
    __repr__ = BaseEstimator.__repr__

    def __sklearn_clone__(self) -> Self:
        """A new estimator with the same parameters; it shares a cluster's client, which cannot be copied."""
        new = type(self)(**copy.deepcopy(self.get_params(deep=False), {id(self.backend): self.backend}))
        if hasattr(self, "_metadata_request"):  # which may refer back to the estimator, whose copy is `new`
            new._metadata_request = copy.deepcopy(self._metadata_request, {id(self): new})
        return new

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A model from a file that `save` wrote."""
        from dpplearn.learning.modelfile import load_model

        model, fitted = load_model(cls, path)
        return model._keep(fitted)
