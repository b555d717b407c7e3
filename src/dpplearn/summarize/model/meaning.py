"""Sentences by an encoder that the user brings: vectors that are near where the meaning is.

An encoder is any object with `.encode(list of str)`, as those of sentence-transformers and model2vec, or a function of
a list of texts. What it returns is checked here, before anything is made of it. A model file names its encoder and how
many numbers it gives, and never holds or imports it: whoever loads the model brings it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import GeneratorType
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, largest_entries, unit_rows

MEANING = "meaning"
WANTED = "an object with .encode(list of str), such as a SentenceTransformer, or a function of a list of texts"


@dataclass(frozen=True)
class Meaning:
    """An encoder, what it is called, and how many numbers it gives a text."""

    encoder: Any
    name: str
    width: int

    @classmethod
    def of(cls, encoder: Any) -> Meaning:
        """Ask an encoder for two short texts, so that one that fails does so before any work."""
        check_encoder(encoder)
        return cls(encoder, encoder_name(encoder), encode(encoder, ["A storm hit the coast.", "Boats sank."]).shape[1])

    def rows(self, texts: Sequence[str]) -> Features:
        """Rows of length 1."""
        found = encode(self.encoder, texts)
        if found.shape[1] != self.width:
            raise ValueError(
                f"The model was trained with the encoder {self.name}, which gave {self.width} numbers for a text; this "
                f"one ({encoder_name(self.encoder)}) gives {found.shape[1]}. Pass the encoder that it was trained with."
            )
        zero = np.flatnonzero(largest_entries(found) == 0.0)
        if zero.size:
            raise ValueError(
                f"The encoder must give every text a direction, but gave only zeros for {zero.size} of {len(texts)}, "
                f"such as {texts[zero[0]]!r:.60}. Add a small constant column to what it returns."
            )
        return unit_rows(found, MEANING)


def check_encoder(encoder: Any) -> Any:
    """What may be an encoder: told before any work."""
    if isinstance(encoder, type):
        raise TypeError(f"encoder must be {WANTED}; found the class {encoder.__name__}. Make an object of it.")
    if not callable(getattr(encoder, "encode", encoder)) or isinstance(encoder, str | bytes):
        raise TypeError(f"encoder must be {WANTED}; found {type(encoder).__name__} {encoder!r:.60}. Load it first.")
    return encoder


def encoder_name(encoder: Any) -> str:
    """What to call it: module:function, or module:Class of an object."""
    named = encoder if hasattr(encoder, "__qualname__") else type(encoder)
    return f"{named.__module__}:{named.__qualname__}"


def encode(encoder: Any, texts: Sequence[str]) -> Features:
    """One row of finite numbers for each text, dense or sparse, or an error that says what came instead.

    Examples
    --------
    >>> encode(lambda texts: [[len(text), 1] for text in texts], ["rain", "storms"])
    array([[4., 1.],
           [6., 1.]])
    """
    wanted = f"The encoder must return {len(texts)} rows of numbers, one for each text"
    try:
        found = getattr(encoder, "encode", encoder)(list(texts))
    except Exception as error:  # whatever a stranger's code raises
        raise ValueError(
            f"The encoder failed on {len(texts)} texts, the first of them {texts[0]!r:.60}: "
            f"{type(error).__name__}: {str(error).rstrip('.')}. Try it on a list of a few texts by itself."
        ) from error
    if found is None or isinstance(found, GeneratorType | dict | str):
        raise ValueError(f"{wanted}; found {type(found).__name__}. Return an array, or a list of lists.")
    try:
        found = sparse.csr_array(found) if sparse.issparse(found) else np.asarray(found)
    except Exception as error:  # rows of several lengths; a tensor on a GPU
        raise ValueError(
            f"{wanted}; found what is no array ({error}). Give every row as many numbers; of a tensor, .cpu()."
        ) from error
    if found.ndim != 2 or found.shape[0] != len(texts) or found.shape[1] == 0:
        advice = "It must encode a list of texts, not one text." if found.ndim < 2 else "Return all, in their order."
        raise ValueError(f"{wanted}; found an array of shape {found.shape}. {advice}")
    if found.dtype.kind not in "fiub":
        raise ValueError(f"{wanted}; found dtype {found.dtype}. Return real numbers, such as float32.")
    found = found.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(largest_entries(found)))
    if bad.size:
        raise ValueError(
            f"{wanted}; found NaN or infinite ones for {bad.size} of them, such as {texts[bad[0]]!r:.60}. Look at what "
            "it makes of this text."
        )
    return found
