"""The commands `dpplearn baskets fit`, `together`, `recommend` and `evaluate`."""

import json

import pytest
from click.testing import CliRunner

from dpplearn import KernelDPP
from dpplearn.cli import main
from dpplearn.cli.bars import CommandProgress
from dpplearn.cli.baskets import read_baskets

BASKETS = 20 * [["bib", "baby bottle"], ["cot"], ["pram", "bib"]] + 5 * [["cot", "pram"], ["baby bottle"]]


def run(*args):
    return CliRunner().invoke(main, ["baskets", *map(str, args)])


def lines(path, rows, mark):
    path.write_text("".join(mark.join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path):
    return lines(tmp_path / "baskets.csv", BASKETS, ",")


@pytest.fixture
def model(file, tmp_path):
    result = run("fit", file, "--out", tmp_path / "model.json", "--alpha", 1)
    assert result.exit_code == 0, result.output
    return tmp_path / "model.json"


def test_a_model_is_fitted_used_and_evaluated(model, file):
    result = run("recommend", model, "bib", "-k", 2)
    assert result.exit_code == 0
    direct = KernelDPP(nonsymmetric=True, alpha=1.0).fit(BASKETS)
    assert result.output.split("\n")[:2] == [f"{p:.4f}  {item}" for item, p in direct.recommend(["bib"], 2)]
    found = json.loads(run("recommend", model, "bib", "--exclude", "pram", "--json").stdout)
    assert found["basket"] == ["bib"]
    assert "pram" not in [one["item"] for one in found["next"]]
    result = run("evaluate", model, file, "--hold", "last", "--json")
    assert json.loads(result.stdout)["log_likelihood"] == pytest.approx(direct.score(BASKETS))
    assert "mean percentile rank" in run("evaluate", model, file).stdout


def test_what_goes_together(model):
    fitted = KernelDPP.load(model)
    pairs = json.loads(run("together", model, "-k", 2, "--json").stdout)
    direct = KernelDPP(nonsymmetric=True, alpha=1.0).fit(BASKETS).together(k=2)
    assert [tuple(one.values()) for one in pairs["attract"]] == [tuple(one) for one in direct.attract]
    assert [tuple(one.values()) for one in pairs["repel"]] == [tuple(one) for one in direct.repel]
    assert run("together", model, "-k", 2).stdout == f"{direct}\n"
    one = json.loads(run("together", model, "bib", "--json").stdout)
    assert [x["item"] for x in one["attract"]] == [x.item for x in fitted.together("bib")]
    assert [x["item"] for x in one["repel"]] == [x.item for x in fitted.alike("bib")]
    shown = [f"{x['correlation']:+.3f}  {x['item']}" for x in [*one["attract"], *one["repel"]]]
    assert run("together", model, "bib").stdout.splitlines() == [line for line in shown if line[1:6] != "0.000"]
    assert "no item 'bab'" in run("together", model, "bab").stderr


def test_files_in_all_their_forms(tmp_path):
    rows = [["1", "23"], [], ["7"], ["23", "1", "7"]]
    numbers = [[1, 23], [], [7], [23, 1, 7]]
    for name, mark in (("a.csv", ","), ("a.tsv", "\t"), ("a.txt", " "), ("a.csv", " "), ("a.csv", ";")):
        assert read_baskets(lines(tmp_path / name, rows, mark)) == numbers
    assert read_baskets(lines(tmp_path / "a.txt", [["baby bottle", "bib"]], ", ")) == [["baby bottle", "bib"]]
    (tmp_path / "a.jsonl").write_text('["a", "b"]\n{"items": []}\n{"basket": ["c"]}\n')
    assert read_baskets(tmp_path / "a.jsonl") == [["a", "b"], [], ["c"]]
    long = "order,what\n5,a\n5,b\n2,c\n"
    (tmp_path / "long.csv").write_text(long)
    (tmp_path / "long.tsv").write_text(long.replace(",", "\t"))
    for name in ("long.csv", "long.tsv"):
        assert read_baskets(tmp_path / name, ("order", "what")) == [["a", "b"], ["c"]]
    (tmp_path / "long.jsonl").write_text(
        '{"order": 5, "what": 10}\n{"order": 5, "what": 12}\n{"order": 2, "what": 10}\n'
    )
    assert read_baskets(tmp_path / "long.jsonl", ("order", "what")) == [[10, 12], [10]]


@pytest.mark.parametrize(
    "text",
    [
        "order,what\n5,a\n5,b\n2,c\n",  # names over numbers
        "who,what\n" + 7 * "ann,bib\nann,cot\nbob,bib\n",  # columns that share nothing
        "order_id,product_id,n\n1,2,1\n1,3,1\n2,2,4\n",  # numbers that are in both columns
    ],
)
def test_a_long_table_read_as_baskets_is_refused(text, tmp_path):
    (tmp_path / "long.csv").write_text(text)
    head = text.split("\n")[0].split(",")
    result = run("fit", tmp_path / "long.csv", "--out", tmp_path / "m.json", "--alpha", 1)
    assert result.exit_code == 1
    assert f"--long '{head[0]}' '{head[1]}'" in result.stderr
    assert "Stopped" not in result.stderr
    result = run("fit", tmp_path / "long.csv", "--out", tmp_path / "m.json", "--alpha", 1, "--long", *head[:2])
    assert result.exit_code == 0, result.output
    (tmp_path / "long.csv").write_text("".join(line + "\n" for line in text.split("\n")[1:-1]))
    assert (
        len(read_baskets(tmp_path / "long.csv")) == text.count("\n") - 1
    )  # as the message says: without the first line they are baskets


@pytest.mark.parametrize("gap", ["201,\n", ",bib\n", "\n"])
def test_a_long_table_with_a_gap_is_refused_too(gap, tmp_path):
    rows = "".join(f"{200 + k // 2},{('bib', 'cot')[k % 2]}\n" for k in range(30))
    for text in (f"order,what\n{rows[:28]}{gap}{rows[28:]}", f"order,what\n5,a\n{gap}5,b\n", f"{rows}{gap}"):
        (tmp_path / "long.csv").write_text(text)
        with pytest.raises(ValueError, match="--long"):
            read_baskets(tmp_path / "long.csv")
    many = "".join(f"{k},{k + 1}\n{k}\n" for k in range(30))  # half of them of one item: baskets
    (tmp_path / "baskets.csv").write_text(f"order,what\n{many}")
    assert len(read_baskets(tmp_path / "baskets.csv")) == 61
    (tmp_path / "baskets.csv").write_text("wine,cheese\ntea,milk\ntea,sugar\nbread\n")  # no warning either
    assert len(read_baskets(tmp_path / "baskets.csv")) == 4


@pytest.mark.parametrize(("row", "column"), [("7,", "what"), (",bib", "order")])
def test_a_row_without_an_item_or_a_basket_is_an_error_that_names_it(row, column, tmp_path):
    for name, mark in (("long.csv", ","), ("long.tsv", "\t")):
        (tmp_path / name).write_text(f"order,what\n5,bib\n{row}\n5,cot\n".replace(",", mark))
        found = run("fit", tmp_path / name, "--out", tmp_path / "m.json", "--long", "order", "what")
        assert found.exit_code == 1
        assert f"{name}: Column {column!r} has no value in row 1 (from 0; 1 such row in all)" in found.stderr
    for missing in (None, "", float("nan")):
        table = {"order": [5, 7, 5], "what": ["bib", "cot", "bib"]}
        table[column] = [table[column][0], missing, table[column][2]]
        with pytest.raises(ValueError, match=f"Column '{column}' has no value in row 1"):
            KernelDPP.from_long(table, basket="order", item="what")


def test_what_may_be_a_long_table_is_told(tmp_path):
    (tmp_path / "bare.csv").write_text("".join(f"{k // 3},{'abc'[k % 3]}\n" for k in range(30)))
    with pytest.raises(ValueError, match=r'is a long table.*first line of names, such as "basket,item".*--long'):
        read_baskets(tmp_path / "bare.csv")
    for pairs in ("a,b\nb,c\na,c\n", "tea,milk\ncoffee,milk\ntea,sugar\n", "a,b\na,c\nb\n"):  # pairs, and no table
        (tmp_path / "pairs.csv").write_text(pairs)
        assert len(read_baskets(tmp_path / "pairs.csv")) == 3
    (tmp_path / "long.jsonl").write_text('{"order": 5, "what": 10}\n')
    with pytest.raises(ValueError, match="--long BASKET ITEM"):
        read_baskets(tmp_path / "long.jsonl")


def test_a_long_table_without_names_is_refused_and_the_advice_works(tmp_path):
    rows = "".join(f"o{k // 3},{('bib', 'cot', 'pram', 'mat')[k * k % 7 % 4]}\n" for k in range(30))
    (tmp_path / "bare.csv").write_text(rows)
    result = run("fit", tmp_path / "bare.csv", "--out", tmp_path / "m.json")
    assert result.exit_code == 1
    assert 'a first line of names, such as "basket,item", and --long basket item' in result.stderr
    (tmp_path / "named.csv").write_text(f"basket,item\n{rows}")
    assert len(read_baskets(tmp_path / "named.csv", ("basket", "item"))) == 10
    lines(tmp_path / "pairs.csv", [[f"a{k % 7}", f"b{k % 5}"] for k in range(30)], ",")  # no runs: baskets of two
    assert len(read_baskets(tmp_path / "pairs.csv")) == 30


def test_progress_is_for_terminals_and_a_stop_says_so(file, tmp_path, monkeypatch):
    arguments = ["fit", file, "--out", tmp_path / "m.json"]
    quiet = run(*arguments, "--alpha", 1)
    assert [line.split()[0] for line in quiet.stderr.splitlines()] == [str(len(BASKETS))]  # the result, and no more
    finish, shown = CommandProgress.finish, []

    def stops(self, iteration, *rest):
        finish(self, iteration, *rest)
        shown.append(iteration)
        if iteration == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(CommandProgress, "finish", stops)
    stopped = run(*arguments, "--alpha", 1)
    assert stopped.exit_code == 130
    assert stopped.stderr.splitlines()[-1] == "The fit was stopped, and nothing is kept."


def test_parquet_files(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"items": [["a", "b"], [], ["b"]]}), tmp_path / "lists.parquet")
    assert read_baskets(tmp_path / "lists.parquet") == [["a", "b"], [], ["b"]]
    parquet.write_table(pyarrow.table({"order": [1, 1, 2], "what": ["a", "b", "b"]}), tmp_path / "long.parquet")
    assert read_baskets(tmp_path / "long.parquet", ("order", "what")) == [["a", "b"], ["b"]]
    with pytest.raises(ValueError, match="--long"):
        read_baskets(tmp_path / "long.parquet")
    parquet.write_table(pyarrow.table({"items": ["bib"]}), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="'items' must be a list"):
        read_baskets(tmp_path / "text.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="not a Parquet file"):
        read_baskets(tmp_path / "bad.parquet")


@pytest.mark.parametrize(
    ("name", "text", "columns", "message"),
    [
        ("a.jsonl", '"text"\n', None, "line 1 must be a list"),
        ("a.jsonl", "[1\n", None, "line 1"),
        ("a.csv", "order,what\n1,a\n", ("order", "item"), "no field 'item'"),
        ("a.tsv", "order\twhat\n1\n", ("order", "what"), "line 2: found 1 cells"),
        ("a.jsonl", '{"order": 1}\n', ("order", "what"), "no field 'what'"),
    ],
)
def test_files_that_are_wrong_say_where(name, text, columns, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_baskets(tmp_path / name, columns)


def test_errors_are_plain_lines(model, tmp_path, file):
    for args, message in (
        (("recommend", model, "bibb"), "Did you mean 'bib'?"),
        (("fit", file, "--out", tmp_path / "none" / "m.json"), "there is no folder"),
        (("fit", file, "--out", tmp_path / "m.json", "--rank", 1), "Pass rank=2"),
        (("evaluate", file, file), "is not a dpplearn.KernelDPP file"),
    ):
        result = run(*args)
        assert result.exit_code == 1
        assert message in result.output
        assert "Traceback" not in result.output
    lines(tmp_path / "n.txt", [[1, 2], [3]], " ")
    assert run("fit", tmp_path / "n.txt", "--out", tmp_path / "n.json").exit_code == 0
    assert "whole numbers" in run("recommend", tmp_path / "n.json", "x").output
    assert run("recommend", tmp_path / "n.json", "1").exit_code == 0


def test_a_folder_is_no_file_of_baskets(tmp_path):
    found = CliRunner().invoke(main, ["baskets", "fit", str(tmp_path), "--out", str(tmp_path / "m.json")])
    assert found.exit_code == 1
    assert "is a folder. Give a file" in found.output
