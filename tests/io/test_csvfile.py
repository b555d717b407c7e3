"""CSV and TSV files: nothing is lost without a word."""

import csv
import io
import random

import pytest

from commands import refusal, write
from dpplearn._io.csvfile import csv_rows
from dpplearn.cli.baskets import read_baskets
from dpplearn.cli.formats import read_items

ROWS = 1000


def table(mark, stray=500):
    """A thousand rows, of which one has a quotation mark that nobody closed."""
    rows = [mark.join([str(i), f'"pipe {i}' if i == stray else f"pipe {i}", "x"]) for i in range(ROWS)]
    return "\n".join([mark.join(["id", "text", "group"]), *rows, ""])


@pytest.mark.parametrize(("suffix", "mark"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize("later", ["", '7{}"ten feet"{}x\n'])
def test_an_unclosed_quotation_mark_is_an_error_in_its_line(suffix, mark, later, tmp_path):
    path = write(tmp_path / f"a{suffix}", table(mark) + later.format(mark, mark))
    for read in (read_items, read_baskets, lambda path: read_baskets(path, ("group", "text"))):
        with pytest.raises(
            ValueError, match="line 502: a quotation mark opens a cell in the row that begins here, and"
        ):
            read(path)


def test_rows_are_those_of_the_standard_library():
    """For files that are sound, and for those that are not, in which line the stray mark stands."""
    rng = random.Random(0)
    for _ in range(500):
        rows = [["".join(rng.choices('ab ",;\t\r\n', k=rng.randrange(6))) for _ in range(3)] for _ in range(5)]
        out = io.StringIO()
        mark = rng.choice(",;\t")
        csv.writer(out, delimiter=mark, quoting=rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])).writerows(rows)
        lines = io.StringIO(out.getvalue(), newline="").readlines()
        found = list(csv_rows(lines, "a", mark))
        assert [cells for _, cells in found] == rows
        starts = [line for line, _ in found]
        assert starts == sorted(set(starts))
        with pytest.raises(ValueError, match=f"a, line {len(lines) + 1}: a quotation mark opens"):
            list(csv_rows([*lines, f'a"b{mark}"x{mark}y\n'], "a", mark))


def test_two_columns_or_keys_of_one_name_are_an_error(tmp_path):
    path = write(tmp_path / "a.tsv", "basket\titem\titem\n1\ta\tb\n")
    with pytest.raises(ValueError, match=r"a\.tsv, line 1: the name 'item' occurs twice"):
        read_baskets(path, ("basket", "item"))
    path = write(tmp_path / "a.jsonl", '{"id": "b"}\n{"id": "a", "x": {"score": 1, "score": 2}}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl, line 2 must be .* has the key 'score' twice\. Remove one"):
        read_items(path)
    with pytest.raises(ValueError, match=r"b\.jsonl, line 1 .* the key 'items' twice"):
        read_baskets(write(tmp_path / "b.jsonl", '{"items": ["a"], "items": ["b"]}\n'))
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    twice = pa.Table.from_arrays([pa.array([[1.0], [2.0]]), pa.array([[3.0], [4.0]])], names=["items", "items"])
    parquet.write_table(twice, tmp_path / "a.parquet")
    said = refusal("select", tmp_path / "a.parquet", "-k", 1)
    assert "a.parquet" in said
    assert "occurs twice. Rename or remove one of the two." in said
