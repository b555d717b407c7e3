"""Pictures of weights and of what goes together in baskets, and the figures of the paper.

`plot_weights` and `plot_together` take matplotlib axes and return them; `dpplearn figures` draws what is in
`dpplearn.plots.figures`. matplotlib is imported when one is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpplearn.plots.charts import plot_together, plot_weights

__all__ = ["plot_together", "plot_weights"]


def import_plots(module: str) -> Any:
    """A module of this package, or an error that says what to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        raise ImportError("dpplearn.plots needs matplotlib: pip install 'dpplearn[plots]'", name=error.name) from error


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_plots("dpplearn.plots.charts"), name)
    raise AttributeError(f"module 'dpplearn.plots' has no attribute {name!r}")
