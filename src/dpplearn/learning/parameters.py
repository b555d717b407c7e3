"""Parameters as scikit-learn has them, without importing it: that takes longer than a summary."""

from __future__ import annotations

import copy
import inspect
from functools import cache
from typing import Any, Self


class Parameters:
    """`get_params`, `set_params` and `sklearn.base.clone` for a class whose constructor only stores its arguments.

    Examples
    --------
    >>> class Cut(Parameters):
    ...     def __init__(self, budget=665, unit="bytes"):
    ...         self.budget, self.unit = budget, unit
    >>> Cut(100).set_params(unit="words")
    Cut(budget=100, unit='words')
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's signature
        """The constructor's arguments by name, as they are now."""
        kind: Any = type(self)  # which mypy does not know to be hashable
        return {name: getattr(self, name) for name in usual_of(kind)}

    def set_params(self, **params: Any) -> Self:
        """Change some of them; a name that is none is an error."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        return type(self)(**copy.deepcopy(self.get_params()))

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def __repr__(self) -> str:
        kind: Any = type(self)
        usual = usual_of(kind)
        changed = {name: value for name, value in self.get_params().items() if value is not usual[name]}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items() if v != usual[k])})"


@cache
def usual_of(kind: type) -> dict[str, Any]:
    """The arguments of a class, and what they are if they are not given."""
    return {name: p.default for name, p in inspect.signature(kind).parameters.items()}
