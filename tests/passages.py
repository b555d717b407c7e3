"""The passages that test the sentence splitter, and the score."""

from pathlib import Path

DATA = Path(__file__).parent / "data"
MARK = "¦"


def read_passages(name):
    """(kind, text, offsets where a sentence ends, the last left out) of each passage."""
    for part in (DATA / name).read_text(encoding="utf-8").split("\n%% ")[1:]:
        kind, _, marked = part.partition("\n")
        marked = marked.strip("\n")
        pieces = marked.split(MARK)
        ends, position = [], 0
        for piece in pieces[:-1]:
            position += len(piece)
            ends.append(len("".join(pieces)[:position].rstrip()))
        yield kind, marked.replace(MARK, ""), ends


def boundary_counts(spans, ends):
    """Boundaries found, found rightly, and to be found; the end of the passage is no merit."""
    found = {end for _, end in spans[:-1]}
    return len(found), len(found & set(ends)), len(ends)


def f1(counts):
    found, right, true = (sum(column) for column in zip(*counts, strict=True))
    return 2 * right / (found + true)
