"""The table of irregular forms: went -> go, children -> child."""

import gzip
from functools import cache
from importlib.resources import files


@cache
def exceptions() -> dict[str, str]:
    """Return irregular form -> lemma, as ROUGE-1.5.5 has them for every token of more than three letters.

    Made from WordNet 3.0 by scripts/build_exceptions.py; WordNet's licence lies beside the data.

    Examples
    --------
    >>> exceptions()["children"], len(exceptions())
    ('child', 5934)
    """
    packed = (files("dpplearn.rouge") / "data" / "exceptions.txt.gz").read_bytes()
    words = gzip.decompress(packed).decode("ascii").split()
    return dict(zip(words[::2], words[1::2], strict=True))
