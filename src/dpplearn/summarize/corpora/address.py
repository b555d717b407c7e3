"""Addresses on the web, which are neither texts nor files here."""

from __future__ import annotations

import re
from os import PathLike, fspath

# a path drops the second slash: pathlib.Path("https://a.org/b") is https:/a.org/b
_ADDRESS = re.compile(r"(?:(?:https?|ftps?)://?[^\s/]\S*|www\.[^\s.]\S*\.\S+)", re.IGNORECASE)


def is_address(given: str | PathLike[str]) -> bool:
    """Whether this is an address on the web, alone.

    Examples
    --------
    >>> is_address("https://example.org/a.html"), is_address("www.example.org"), is_address("See www.example.org.")
    (True, True, False)
    """
    return _ADDRESS.fullmatch(fspath(given).strip()) is not None


def refuse_address(given: str | PathLike[str]) -> None:
    """An error that says what to do with an address, if this is one."""
    if is_address(given):
        raise ValueError(
            f"{fspath(given).strip()} is an address on the web, and dpplearn downloads nothing. Open it in a browser, "
            "save the page as an HTML file, and give that file."
        )
