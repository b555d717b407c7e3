"""Numbers as options, with a message that says what they must be."""

from typing import Any

import click


def bounds(given: click.IntRange | click.FloatRange) -> str:
    """The range in words: from 0 to 1, at least 1, above 0; bounds are inside it unless the lower one is open."""
    if given.max is not None:
        return f"from {given.min} to {given.max}"
    return f"{'above' if given.min_open else 'of at least'} {given.min}"


class WholeNumber(click.IntRange):
    """A whole number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"must be a whole number {bounds(self)}, found {value!r}.", param, ctx)


class Number(click.FloatRange):
    """A number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"must be a number {bounds(self)}, found {value!r}.", param, ctx)
