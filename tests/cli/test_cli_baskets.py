"""The commands `dpplearn baskets fit`, `together`, `recommend` and `evaluate`."""

import json
from functools import partial

import pytest

import commands
from commands import write, write_lines
from dpplearn import KernelDPP
from dpplearn.cli.baskets import read_baskets

BASKETS = 20 * [["bib", "baby bottle"], ["cot"], ["pram", "bib"]] + 5 * [["cot", "pram"], ["baby bottle"]]
run, output, refusal = (partial(call, "baskets") for call in (commands.run, commands.output, commands.refusal))


def lines(path, rows, mark):
    return write(path, "".join(mark.join(map(str, row)) + "\n" for row in rows))


@pytest.fixture
def file(tmp_path):
    return lines(tmp_path / "baskets.csv", BASKETS, ",")


@pytest.fixture
def model(file, tmp_path):
    output("fit", file, "--out", tmp_path / "model.json", "--alpha", 1)
    return tmp_path / "model.json"


def test_a_model_is_fitted_used_and_evaluated(model, file):
    direct = KernelDPP(nonsymmetric=True, alpha=1.0).fit(BASKETS)
    said = output("recommend", model, "bib", "-k", 2).splitlines()
    assert said[:2] == [f"{p:.4f}  {item}" for item, p in direct.recommend(["bib"], 2)]
    found = json.loads(output("recommend", model, "bib", "--exclude", "pram", "--json"))
    assert found["basket"] == ["bib"]
    assert "pram" not in [one["item"] for one in found["next"]]
    found = json.loads(output("evaluate", model, file, "--hold", "last", "--json"))
    assert found["log_likelihood"] == pytest.approx(direct.score(BASKETS))
    assert "mean percentile rank" in output("evaluate", model, file)


def test_files_in_all_their_forms(tmp_path):
    rows, numbers = [["1", "23"], [], ["7"], ["23", "1", "7"]], [[1, 23], [], [7], [23, 1, 7]]
    for name, mark in (("a.csv", ","), ("a.tsv", "\t"), ("a.txt", " "), ("a.csv", " "), ("a.csv", ";")):
        assert read_baskets(lines(tmp_path / name, rows, mark)) == numbers
    assert read_baskets(lines(tmp_path / "a.txt", [["baby bottle", "bib"]], ", ")) == [["baby bottle", "bib"]]
    objects = write(tmp_path / "a.jsonl", '["a", "b"]\n{"items": []}\n{"items": ["c"]}\n')
    assert read_baskets(objects) == [["a", "b"], [], ["c"]]
    long = "order,what\n5,a\n5,b\n2,c\n"
    for path in (write(tmp_path / "b.csv", long), write(tmp_path / "b.tsv", long.replace(",", "\t"))):
        assert read_baskets(path, ("order", "what")) == [["a", "b"], ["c"]]
    objects = write_lines(tmp_path / "b.jsonl", [{"order": k, "what": x} for k, x in ((5, 1), (5, 2), (2, 1))])
    assert read_baskets(objects, ("order", "what")) == [[1, 2], [1]]


@pytest.mark.parametrize(
    "text",
    [
        "order,what\n5,a\n5,b\n2,c\n",  # names over numbers
        "who,what\n" + 7 * "ann,bib\nann,cot\nbob,bib\n",  # columns that share nothing
        "order_id,product_id,n\n1,2,1\n1,3,1\n2,2,4\n",  # numbers that are in both columns
    ],
)
def test_a_long_table_read_as_baskets_is_refused(text, tmp_path):
    path, (head, *rows) = write(tmp_path / "long.csv", text), text.splitlines(keepends=True)
    names, fit = head.strip().split(",")[:2], ("fit", path, "--out", tmp_path / "m.json", "--alpha", 1)
    assert f"--long '{names[0]}' '{names[1]}'" in refusal(*fit)
    output(*fit, "--long", *names)
    write(path, "".join(rows))  # as the message says: without the first line they are baskets
    assert len(read_baskets(path)) == len(rows)


def test_a_long_table_without_names_is_refused_and_the_advice_works(tmp_path):
    rows = "".join(f"o{k // 3},{('bib', 'cot', 'pram', 'mat')[k * k % 7 % 4]}\n" for k in range(30))
    said = refusal("fit", write(tmp_path / "bare.csv", rows), "--out", tmp_path / "m.json")
    assert 'a first line of names, such as "basket,item", and --long basket item' in said
    assert len(read_baskets(write(tmp_path / "named.csv", f"basket,item\n{rows}"), ("basket", "item"))) == 10
    with pytest.raises(ValueError, match="--long BASKET ITEM"):
        read_baskets(write(tmp_path / "long.jsonl", '{"order": 5, "what": 10}\n'))


MANY = "".join(f"u{k},{('bib', 'cot')[k % 2]},pram\n" for k in range(25))


@pytest.mark.parametrize(
    ("text", "baskets"),
    [
        ('id;items\n7;"bib,cot"\n8;"bib"\n', [["bib", "cot"], ["bib"]]),  # a column of whole baskets
        ('items\n"1,2"\n3\n', [[1, 2], [3]]),
        ('"bib;cot"\n"bib"\n', [["bib", "cot"], ["bib"]]),
        ('"bib, red";cot\n"bib"\n', [["bib, red", "cot"], ["bib"]]),  # a comma inside a cell separates nothing
        ('"baby bottle" bib\n', [["baby bottle", "bib"]]),
        ("a, red\tb\nc\td\n", [["a, red", "b"], ["c", "d"]]),
        ("1,bib,cot\n2,bib\n", "such as '2'. Leave that column out"),
        ("no;what\n1;bib,cot\n2;bib\n", "such as '2'. Leave that column out"),
        (MANY, "such as 'u24'. Leave that column out"),
        ("order;item 1;item 2\nA;bib;\nB;cot;\nC;bib;cot\n", "begins with names of columns, such as 'order'"),
    ],
)
def test_separators_are_told_from_cells_and_names_of_baskets_from_items(text, baskets, tmp_path):
    path = write(tmp_path / "a.csv", text)
    if isinstance(baskets, list):
        assert read_baskets(path) == baskets
    else:
        assert baskets in refusal("fit", path, "--out", tmp_path / "m.json")


@pytest.mark.parametrize("which", ["first", "last", None])
def test_a_column_of_customers_is_named_in_a_warning(which, tmp_path):
    rows = [[("bib", "cot", "pram", "mat")[(k + j) % 4] for j in range(k % 3 + 1)] for k in range(40)]
    rows = [["K0"] * (which == "first") + row + ["K0"] * (which == "last") for row in rows]
    said = run("fit", lines(tmp_path / "a.csv", rows, ";"), "--out", tmp_path / "m.json").stderr
    assert (f"the {which} column (K0" in said) == ("Warning" in said) == bool(which)
    with pytest.raises(TypeError, match="found None"):  # and not the text
        KernelDPP().fit([*rows, ["a", None]])


def test_parquet_files(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"items": [["a", "b"], [], ["b"]]}), path)
    assert read_baskets(path) == [["a", "b"], [], ["b"]]
    parquet.write_table(pyarrow.table({"order": [1, 1, 2], "what": ["a", "b", "b"]}), path)
    assert read_baskets(path, ("order", "what")) == [["a", "b"], ["b"]]
    with pytest.raises(ValueError, match="--long"):
        read_baskets(path)
    parquet.write_table(pyarrow.table({"items": ["bib"]}), path)
    with pytest.raises(ValueError, match="'items' must be a list"):
        read_baskets(path)
    with pytest.raises(ValueError, match="not a Parquet file"):
        read_baskets(write(path, b"PAR1"))


@pytest.mark.parametrize("text", ["1,0,1\n0,1,1\n1,1,0\n", "tea,milk,bread\n1,0,1\n0,1,1\n"])
def test_a_table_of_0_and_1_is_refused(text, tmp_path):
    (tmp_path / "b.csv").write_text(text)
    assert "is a table of 0 and 1" in refusal("fit", tmp_path / "b.csv", "--out", tmp_path / "m.json")
