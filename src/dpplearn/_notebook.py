"""Shows objects: a short `repr`, and in a notebook a small HTML card that suits light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from itertools import islice
from typing import Any

import numpy as np

TABLE_ROWS = 12  # rows shown of a table
TEXT_CHARACTERS = 300  # characters shown of a text
REPR_ENTRIES, REPR_CHARACTERS = 3, 60  # entries shown of a list, and characters of an entry, in a `repr`
STYLE = (
    "<style>"
    ".dpplearn{color-scheme:light dark;font:14px/1.45 system-ui,sans-serif;max-width:60rem;padding:.6rem .9rem;"
    "border:1px solid #8886;border-radius:.5rem}"
    ".dpplearn h4{margin:0 0 .3rem;font-size:1rem}.dpplearn p{margin:.3rem 0}"
    ".dpplearn table{border-collapse:collapse;margin:.4rem 0}"
    ".dpplearn td,.dpplearn th{text-align:left;padding:.15rem .6rem;vertical-align:top;border-top:1px solid #8884}"
    ".dpplearn small{opacity:.75}"
    ".dpplearn li{margin:.25rem 0}.dpplearn .why{opacity:.8;font-size:.9em}</style>"
)


def card(title: str, *parts: str, facts: Mapping[str, Any] | None = None) -> str:
    """The card of an object: a title, a line of named facts, and parts that are HTML already.

    Examples
    --------
    >>> card("A <b>", facts={"n": 3}).endswith("<h4>A &lt;b&gt;</h4><p><small>n: 3</small></p></div>")
    True
    """
    listed = "; ".join(f"{shown(name)}: {shown(value)}" for name, value in (facts or {}).items())
    line = f"<p><small>{listed}</small></p>" if listed else ""
    return f'<div class="dpplearn" dir="auto">{STYLE}<h4>{shown(title)}</h4>{line}{"".join(parts)}</div>'


def short_repr(self: Any) -> str:
    """`__repr__` of a record: its class and its fields, where arrays are shown by their shapes and long lists are cut.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> Fitted = make_dataclass("Fitted", ["theta", "names", "error"], namespace={"__repr__": short_repr})
    >>> Fitted(np.zeros((7, 2)), tuple("abcdef"), 0.123456789)
    Fitted(theta=<7 x 2 float64>, names=('a', 'b', 'c', ... 6 in all), error=0.1235)
    """
    if is_dataclass(self):
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}
    else:
        values = self._asdict()
    return f"{type(self).__name__}({', '.join(f'{name}={brief(value)}' for name, value in values.items())})"


def brief(value: Any) -> str:
    """A short text for any value."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and value.shape:
        return f"<{' x '.join(map(str, value.shape))} {value.dtype}>"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, Mapping | list | tuple) and not hasattr(value, "_asdict"):
        pairs = isinstance(value, Mapping)
        some = [f"{brief(x)}: {brief(value[x])}" if pairs else brief(x) for x in islice(value, REPR_ENTRIES)]
        opening, closing = "{}" if pairs else "[]" if isinstance(value, list) else "()"
        more = f", ... {len(value)} in all" if len(value) > REPR_ENTRIES else "," * (opening == "(" and len(value) == 1)
        listed = f"{opening}{', '.join(some)}{more}{closing}"
        return listed if len(listed) <= 2 * REPR_CHARACTERS else f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    if len(text) <= REPR_CHARACTERS:
        return text
    return f"{text[: REPR_CHARACTERS - 2]}…'" if isinstance(value, str) else f"<{type(value).__name__}>"


def in_notebook(self: Any, **kwargs: Any) -> dict[str, str]:  # noqa: ARG001  # IPython's signature
    """`_repr_mimebundle_` of an estimator, which would otherwise show scikit-learn's diagram instead of its card."""
    return {"text/plain": repr(self), "text/html": self._repr_html_()}


def shown(value: Any) -> str:
    """A value as escaped text: floats with four digits, long texts cut."""
    text = f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
    return escape(text if len(text) <= TEXT_CHARACTERS else text[: TEXT_CHARACTERS - 1] + "…")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """An HTML table of at most `TABLE_ROWS` rows, and below it how many more of the `total` there are."""
    some = [row for _, row in zip(range(TABLE_ROWS), rows, strict=False)]
    if not some:
        return ""
    body = "".join(f"<tr>{''.join(f'<td>{shown(x)}</td>' for x in row)}</tr>" for row in some)
    more = "" if total is None or total <= len(some) else f"<p><small>and {total - len(some):,} more</small></p>"
    return f"<table><tr>{''.join(f'<th>{shown(x)}</th>' for x in head)}</tr>{body}</table>{more}"
