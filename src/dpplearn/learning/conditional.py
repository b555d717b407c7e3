"""ConditionalDPP: weights of quality features by maximum likelihood, scikit-learn style."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import check_array, check_rho, check_vector
from dpplearn._run.progress import Progress
from dpplearn.learning.fitting import Fitted, Settings, default_names, fit_weights, training_data
from dpplearn.learning.itemset import ItemSet, check_names
from dpplearn.learning.predictor import ConditionalPredictor


class ConditionalDPP(ConditionalPredictor):
    """Weights theta of the quality features, from examples of good subsets (sections 4 and 5).

    Maximizes sum of log P(Y_t | X_t) - sum of theta_j^2 / (2 prior_variance), concave in theta
    (Proposition 1), where P is the DPP with L_ij = q_i S_ij q_j and q_i = exp(theta . f_i / 2).

    Parameters
    ----------
    prior_variance : float or array of shape (m,), default 1.0
        Variance of the Gaussian prior on each weight, around 0. A vector gives each feature its own, for
        instance a wide one to the constant; numpy.inf or None means no prior.
    solver : {"newton", "lbfgs"}
        "newton" uses the exact Hessian and needs about ten evaluations; "lbfgs" is the paper's, from scipy.
    tol : float
        Stop when no entry of the gradient is larger.
    max_iter : int
        Iterations at most; with `learn_rho`, for each value of rho that is tried.
    n_jobs : int or None
        Processes to spread the instances over; None or -1 for all cores.
    warm_start : bool
        Start from the weights of the last fit instead of 0, where those are not worse.
    rho : float
        Value of the constant similarity feature of section 7.2: S_ij becomes (S_ij + rho^2) / (1 + rho^2).
        0 leaves the similarities as given.
    learn_rho : bool
        Maximize over rho too, by its exact derivative. That problem is not concave: the local
        maxima that show on a grid of starts are found, and the best one kept.
    on_impossible : {"error", "drop"}
        What to do with targets that have probability 0 whatever theta is, such as two duplicates.
    backend : {None, "serial", "processes", "dask"} or distributed.Client
        Where instances are evaluated; None goes by `n_jobs`. The result is the same to 1e-9.
    verbose : bool
        Print a line for each iteration on standard error, with the log-likelihood and the largest entry of
        the gradient; on a terminal, one line with a bar that moves while the instances are evaluated.
    checkpoint : path, optional
        Write the weights there after each iteration; a fit that finds the file goes on from it. One file is
        for one fit: under cross_val_score or GridSearchCV leave it out, for every fold would find the file
        of another.

    Attributes
    ----------
    theta_ : array of shape (m,)
    theta_std_ : array of shape (m,)
        Standard errors by Laplace's method: square roots of the diagonal of the inverse Hessian.
        With `learn_rho` they are those for rho_ as if it were known.
    log_likelihood_ : float
        Sum of log P(Y_t | X_t) at theta_, without the prior.
    n_iter_ : int
    converged_ : bool
    rho_ : float
    gradient_norm_ : float
        Largest entry of the gradient at theta_.
    feature_names_in_ : array of m strings
        From the item sets; x0, x1, ... where they have none.

    See Also
    --------
    ConditionalDPPCV : chooses the prior variance.

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
        solver: str = "newton",
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_jobs: int | None = 1,
        warm_start: bool = False,
        *,
        rho: float = 0.0,
        learn_rho: bool = False,
        on_impossible: str = "error",
        backend: Any = None,
        verbose: bool | Progress = False,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.prior_variance = prior_variance
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.rho = rho
        self.learn_rho = learn_rho
        self.on_impossible = on_impossible
        self.backend = backend
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(
        self,
        X: Sequence[ItemSet] | Sequence[str | os.PathLike[str]],
        y: Sequence[ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn theta from item sets X and the subset of each that was chosen.

        Parameters
        ----------
        X : list of ItemSet, or list of paths of shards
            For more data than fits in memory, paths of files that `save_shard` wrote, which hold the targets
            too: they are read one at a time, or kept in the memory of a cluster's workers.
        y : list of index arrays or boolean masks
            The chosen items of each; may be empty.
        sample_weight : array, optional
            How often each instance counts.
        """
        settings = Settings(
            self.prior_variance, self.solver, self.tol, self.max_iter, self.rho, self.learn_rho, self.on_impossible
        )
        fitted = fit_weights(
            training_data(X, y, sample_weight),
            settings,
            start=getattr(self, "theta_", None) if self.warm_start else None,
            backend=self.backend,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            checkpoint=self.checkpoint,
        )
        return self._keep(fitted)

    def _keep(self, fitted: Fitted) -> Self:
        self.theta_, self.theta_std_, self.rho_ = fitted.theta, fitted.theta_std, fitted.rho
        self.log_likelihood_, self.gradient_norm_ = fitted.log_likelihood, fitted.gradient_norm
        self.n_iter_, self.converged_ = fitted.n_iter, fitted.converged
        self.feature_names_in_ = np.array(fitted.names, dtype=object)
        self.n_features_in_ = fitted.theta.size
        return self

    @classmethod
    def from_weights(
        cls,
        theta: ArrayLike,
        *,
        rho: float = 0.0,
        theta_std: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """A model with weights that are known, such as those of a logistic regression on the same features.

        Parameters
        ----------
        theta : array of shape (m,)
        rho : float
            Value of the constant similarity feature.
        theta_std : array of shape (m,), optional
            Standard errors, where they are known.
        names : sequence of m strings, optional
            Names of the features.

        Examples
        --------
        >>> items = ItemSet([[1.0], [2.0]], similarity=[[1.0, 0.5], [0.5, 1.0]])
        >>> ConditionalDPP.from_weights([0.0]).dpp(items).L
        array([[1. , 0.5],
               [0.5, 1. ]])
        """
        weights = check_array(theta, "theta", 1).copy()
        m = weights.size
        return cls(rho=rho)._keep(
            Fitted(
                theta=weights,
                theta_std=np.full(m, np.nan) if theta_std is None else check_vector(theta_std, "theta_std", m).copy(),
                rho=check_rho(rho),
                log_likelihood=np.nan,
                gradient_norm=np.nan,
                n_iter=0,
                converged=True,
                names=check_names(names, m) or default_names(m),
                n_instances=0,
            )
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A model from a file that `save` wrote."""
        from dpplearn.learning.modelfile import load_model

        params, fitted = load_model(path)
        return cls(**params)._keep(fitted)
