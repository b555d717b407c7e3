"""Modules that have moved: their old names, where README or docs gave them, still import what is there now."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "retrieval": "decoding.diversify",
    "learning.reference": "learning.algorithm1",
    **{
        f"summarize.{name}": f"summarize.model.{name}" for name in ("bins", "centrality", "features", "oracle", "tfidf")
    },
    **{f"summarize.{name}": f"summarize.experiments.{name}" for name in ("baselines", "evaluation", "systems")},
    "summarize.experiment": "summarize.experiments.paper_tables",
    "summarize.units": "summarize.text.units",
}


class MovedFinder(MetaPathFinder, Loader):
    """Finds the module under its new name, so that both names are one object."""

    def find_spec(self, fullname: str, *__: object) -> ModuleSpec | None:
        """Of a module that has moved, and of no other."""
        package, _, name = fullname.partition(".")
        if package != "dpplearn" or name not in MOVED:
            return None
        return ModuleSpec(fullname, self, loader_state=import_module(f"dpplearn.{MOVED[name]}").__spec__)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, under its new name."""
        return sys.modules[spec.loader_state.name]

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again; the import system wrote the old name over the module's own."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Look here for modules of dpplearn that nobody else finds."""
    sys.meta_path.append(MovedFinder())
