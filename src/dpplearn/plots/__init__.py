"""Pictures for users: weights of a model, and what goes together in baskets.

`plot_weights` and `plot_together` draw on matplotlib axes and return them. The figures of the paper, which `dpplearn
figures` draws, are in `dpplearn.plots.figures`. matplotlib is imported only when something is drawn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpplearn.plots.charts import plot_together, plot_weights

__all__ = ["plot_together", "plot_weights"]


def import_plots(module: str) -> Any:
    """Import a module of this package; if matplotlib is missing, the error says how to install it."""
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
