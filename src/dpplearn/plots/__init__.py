"""Pictures of kernels, marginals, weights and chosen sets, and the figures of the paper.

`plot_kernel`, `plot_marginals`, `plot_weights`, `plot_selection` and `plot_together` take matplotlib axes and return
them; `dpplearn figures` draws what is in `dpplearn.plots.figures`. matplotlib is imported when one is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpplearn.plots.charts import plot_kernel, plot_marginals, plot_selection, plot_weights
    from dpplearn.plots.together import plot_together

__all__ = ["plot_kernel", "plot_marginals", "plot_selection", "plot_together", "plot_weights"]


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
        return getattr(import_plots(f"dpplearn.plots.{'together' if name == 'plot_together' else 'charts'}"), name)
    raise AttributeError(f"module 'dpplearn.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
