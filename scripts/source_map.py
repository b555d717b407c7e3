"""Reads the source without importing it: modules, classes, and the public functions between two classes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "dpplearn"


@dataclass
class Module:
    """A parsed file: its dotted name, its tree, and the origin of each name in it."""

    name: str
    tree: ast.Module
    is_package: bool
    names: dict[str, str] = field(default_factory=dict)  # local name: dotted name
    imports: list[str] = field(default_factory=list)  # dotted names in dpplearn

    def __post_init__(self) -> None:
        for statement in self.tree.body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef):
                self.names[statement.name] = f"{self.name}.{statement.name}"
            self.names |= {name: f"{self.name}.{name}" for name, _ in assigned(statement)}
        for node in ast.walk(self.tree):  # also imports for type checkers and inside functions
            if isinstance(node, ast.Import):
                self.imports += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    self.imports.append(f"{node.module}.{alias.name}")
                    self.names.setdefault(alias.asname or alias.name, self.imports[-1])
        self.imports = [name for name in self.imports if name.startswith(f"{PACKAGE}.")]

    @property
    def room(self) -> str:
        """The first name under the package."""
        return self.name.split(".")[1]

    @property
    def idea(self) -> str:
        """The first sentence of the docstring."""
        text = " ".join((ast.get_docstring(self.tree) or "").split("\n\n")[0].split())
        return re.split(r"(?<=[a-z0-9)`])\.(?= |$)", text)[0].rstrip(".") + "." if text else ""


@dataclass
class Class:
    """A class and the module it is in."""

    name: str
    node: ast.ClassDef
    module: Module


@dataclass(frozen=True)
class Step:
    """A public function, or a method with the public classes that have it; and the classes it takes and returns."""

    function: str
    owners: tuple[str, ...]
    takes: frozenset[str]
    returns: frozenset[str]

    def name(self, *classes: str) -> str:
        """The name, as a method of one of these classes if possible, else of the class with the shortest name."""
        names = [owner.rpartition(".")[2] for owner in self.owners]
        best = [name for name in classes if name in names] or sorted(names, key=lambda name: (len(name), name))
        return ".".join([*best[:1], self.function])


class Code:
    """All modules under src/dpplearn."""

    def __init__(self, root: Path = ROOT) -> None:
        source = root / "src" / PACKAGE
        self.modules: dict[str, Module] = {}
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source.parent).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            self.modules[name] = Module(name, ast.parse(path.read_text(encoding="utf-8")), is_package)

    @cached_property
    def classes(self) -> dict[str, Class]:
        return {
            f"{module.name}.{node.name}": Class(node.name, node, module)
            for module in self.modules.values()
            for node in module.tree.body
            if isinstance(node, ast.ClassDef)
        }

    @cached_property
    def exported(self) -> set[str]:
        """Dotted names that packages export in their __init__, and that the modules directly under dpplearn have."""
        exporting = [m for m in self.modules.values() if m.is_package or m.name.count(".") == 1]
        return {self.resolve(dotted) for module in exporting for dotted in module.names.values()}

    def resolve(self, dotted: str) -> str:
        """The dotted name where a name is defined, through any number of imports."""
        for _ in range(10):
            home, _, name = dotted.rpartition(".")
            origin = self.modules[home].names.get(name, dotted) if home in self.modules else dotted
            if origin == dotted:
                break
            dotted = origin
        return dotted

    def bases(self, dotted: str) -> set[str]:
        """A class and all its base classes."""
        cls = self.classes[dotted]
        names = (base.id for base in cls.node.bases if isinstance(base, ast.Name))
        parents = (self.resolve(cls.module.names.get(name, "")) for name in names)
        return {dotted}.union(*(self.bases(base) for base in parents if base in self.classes))

    def annotated(self, annotation: ast.expr | None, module: Module) -> set[str]:
        """The classes in an annotation, with those in a union that has a name."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        classes: set[str] = set()
        for node in ast.walk(annotation) if annotation is not None else ():
            dotted = self.resolve(module.names.get(node.id, "")) if isinstance(node, ast.Name) else ""
            home, _, name = dotted.rpartition(".")
            if dotted in self.classes:
                classes.add(dotted)
            elif home in self.modules:
                for value in (value for n in self.modules[home].tree.body for t, value in assigned(n) if t == name):
                    if isinstance(value, ast.BinOp):
                        classes |= self.annotated(value, self.modules[home])
        return classes

    @cached_property
    def steps(self) -> list[Step]:
        """Every public function, and every public method of a public class."""
        heirs: dict[str, list[str]] = {}
        for dotted in sorted(self.classes.keys() & self.exported):
            for base in self.bases(dotted):
                heirs.setdefault(base, []).append(dotted)
        steps = []
        for module in self.modules.values():
            for node in module.tree.body:
                dotted = f"{module.name}.{getattr(node, 'name', '')}"
                if isinstance(node, ast.FunctionDef) and dotted in self.exported:
                    steps.append(self.step(node, module, ()))
                elif isinstance(node, ast.ClassDef) and dotted in heirs:
                    methods = [n for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
                    steps += [self.step(method, module, tuple(heirs[dotted])) for method in methods]
        return sorted(steps, key=lambda step: step.function)

    def step(self, node: ast.FunctionDef, module: Module, owners: tuple[str, ...]) -> Step:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        takes = set().union(*(self.annotated(a.annotation, module) for a in arguments))
        returns = self.annotated(node.returns, module)
        if arguments and arguments[0].arg == "self":
            takes.update(owners)
        if node.returns is not None and ast.unparse(node.returns) == "Self":
            returns.update(owners)
        return Step(node.name, owners, frozenset(takes), frozenset(returns))

    def find(self, name: str) -> str:
        """The dotted name of a public class."""
        matches = sorted(dotted for dotted in self.classes.keys() & self.exported if dotted.endswith(f".{name}"))
        if len(matches) != 1:
            raise SystemExit(f"FLOW names {name}; expected one public class, found {', '.join(matches) or 'none'}.")
        return matches[0]

    def between(self, start: str, end: str) -> list[str]:
        """Functions that take a `start` and return an `end`; without start, those that take no class of dpplearn."""
        goal, sources = self.find(end), self.bases(self.find(start)) if start else set()
        makers = [s for s in self.steps if any(goal in self.bases(c) for c in s.returns)]
        names = [s.name(start, end) for s in makers if (s.takes & sources if start else not s.takes)]
        if not names:
            raise SystemExit(f"No public function takes {start or 'plain data'} and returns {end}: correct FLOW.")
        return list(dict.fromkeys(names))


def assigned(node: ast.stmt) -> list[tuple[str, ast.expr | None]]:
    """The names that a statement assigns, with their values."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [(target.id, node.value) for target in targets if isinstance(target, ast.Name)]
