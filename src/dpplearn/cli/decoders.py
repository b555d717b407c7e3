"""A decoder as an option: any name of the registry, also one that joins it later."""

from typing import Any

import click

from dpplearn.decoding.registry import DECODERS, normal_name


class DecoderName(click.ParamType):  # type: ignore[type-arg]  # older versions of click take none
    """The name of a decoder, or an alias of it."""

    name = "decoder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return normal_name(value, "it")
        except ValueError as error:
            self.fail(str(error), param, ctx)


def decoder_help() -> str:
    """What each decoder does, on one line."""
    return "; ".join(f"{name}: {known.help}" for name, known in DECODERS.items())
