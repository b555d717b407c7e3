"""A number with its standard error."""

from __future__ import annotations


class Estimate(float):
    """A float with its standard error, which is infinite if unknown.

    Examples
    --------
    >>> x = Estimate(2.5, 0.1)
    >>> x + 1, x.standard_error
    (3.5, 0.1)
    >>> x
    2.5 ± 0.1
    >>> Estimate(1 / 3)
    0.333333
    >>> Estimate(2.5, float("inf"))
    2.5 (error unknown)
    >>> Estimate(float("nan"), float("nan"))
    nan (not estimated)
    """

    standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0) -> Estimate:
        self = super().__new__(cls, value)
        self.standard_error = float(standard_error)
        return self

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]  # copies keep the error
        return float(self), self.standard_error

    def __repr__(self) -> str:
        if self != self:
            return "nan (not estimated)"
        if not self.standard_error:
            return repr(float(f"{float(self):.6g}"))
        if self.standard_error == float("inf"):
            return f"{float(self):.6g} (error unknown)"
        return f"{float(self):.6g} ± {self.standard_error:.2g}"
