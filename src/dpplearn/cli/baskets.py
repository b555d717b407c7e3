"""dpplearn baskets: kernels from files of baskets, what goes with what, what comes next, and how good that is."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import click

from dpplearn._io.csvfile import csv_rows
from dpplearn._io.encoding import read_lines
from dpplearn._io.jsonfile import parse_json
from dpplearn.baskets import KernelDPP
from dpplearn.baskets.baskets import Baskets
from dpplearn.baskets.completing import completion
from dpplearn.cli import check_out, print_json, say, visible
from dpplearn.cli.bars import bars
from dpplearn.cli.formats import read_items
from dpplearn.cli.options import AS_JSON, FILE, PATH, Command

PLAIN = 20  # rows of texts that tell a table: fewer baskets may look like one by chance
GAPS = 10  # rows of a table for each that may lack a cell
LISTS = ("items", "basket")  # what a column of whole baskets may be called
Columns = tuple[str, str] | None
TABLE = "FILE is a table with a row for each item: the columns that name the basket and the item."
LONG_TABLE = click.option("--long", "columns", nargs=2, metavar="BASKET ITEM", help=TABLE)
HELD_OUT = "Which item of a basket is held out."
COUNT = "Number of items, or of pairs of a kind."
HOW_MANY = click.option("-k", "--k", type=click.IntRange(1), default=10, show_default=True, help=COUNT)


@click.group(name="baskets")
def baskets_command() -> None:
    """Learn which items come together, and which replace each other, from baskets.

    FILE has one basket a line, its items separated by tabs, commas, semicolons or blanks; or is JSON Lines with a list
    on each line, Parquet with a column "items", or with --long a table in CSV, TSV, JSON Lines or Parquet.
    """


@baskets_command.command(cls=Command)
@click.argument("file", type=PATH)
@click.option("--out", type=FILE, required=True, help="Model file to write, JSON.")
@click.option("--rank", type=click.IntRange(1), help="Of the kernel.  [default: all of it, up to 1500 items]")
@click.option("--symmetric", is_flag=True, help="A kernel that only repels.")
@click.option("--alpha", type=click.FloatRange(0), help="Strength of the prior.  [default: chosen on held-out baskets]")
@LONG_TABLE
def fit(file: Path, out: Path, rank: int | None, symmetric: bool, alpha: float | None, columns: Columns) -> None:
    """Learn a kernel from the baskets of FILE."""
    check_out(out)
    baskets = read_baskets(file, columns or None)
    options: dict[str, Any] = {"alpha": "cv" if alpha is None else alpha, "random_state": 0}
    with bars() as show:
        model = KernelDPP(rank, not symmetric, progress=show, **options).fit(baskets)
    model.save(out)
    each, first = model.log_likelihood_ / len(baskets), model.items_.tolist()[0]
    say(
        f"{len(baskets)} baskets ({model.n_empty_} empty) of {len(model.items_)} items, such as {first!r}: "
        f"log-likelihood per basket {each:.4f} with alpha {model.alpha_:g}. Wrote {out}."
    )


@baskets_command.command(cls=Command)
@click.argument("model", type=PATH)
@click.argument("items", nargs=-1, metavar="ITEM...")
@HOW_MANY
@click.option("--exclude", multiple=True, metavar="ITEM", help="Not this one; may be repeated.")
@AS_JSON
def recommend(model: Path, items: list[str], k: int, exclude: list[str], as_json: bool) -> None:
    """What comes next to a basket of ITEMs, with probabilities."""
    fitted = KernelDPP.load(model)
    basket, out = as_named(fitted, items), as_named(fitted, exclude)
    following = fitted.recommend(basket, k, out)
    if as_json:
        print_json({"basket": basket, "next": as_dicts(following)})
        return
    for entry in following:
        click.echo(visible(f"{entry.probability:.4f}  {entry.item}"))


@baskets_command.command(cls=Command)
@click.argument("model", type=PATH)
@click.argument("item", required=False)
@HOW_MANY
@AS_JSON
def together(model: Path, item: str | None, k: int, as_json: bool) -> None:
    """Show what attracts and what repels ITEM; without ITEM, the pairs of items that do so most.

    The correlation of being in the same basket is the model's. Pairs also have the number of baskets with both items,
    and the lift: how many times as many that is as if the two were independent.
    """
    fitted = KernelDPP.load(model)
    if item is None:
        pairs = fitted.together(k=k)
        if as_json:
            print_json({"attract": as_dicts(list(pairs.attract)), "repel": as_dicts(list(pairs.repel))})
        else:
            click.echo(visible(str(pairs)))
        return
    (name,) = as_named(fitted, (item,))
    attract, repel = fitted.together(name, k), fitted.alike(name, k)
    if as_json:
        print_json({"item": name, "attract": as_dicts(attract), "repel": as_dicts(repel)})
        return
    click.echo("model's correlation  item")
    for other in [*attract, *repel]:
        click.echo(visible(f"{other.correlation:+19.3f}  {other.item}"))


@baskets_command.command(cls=Command)
@click.argument("model", type=PATH)
@click.argument("file", type=PATH)
@click.option("--hold", type=click.Choice(["random", "last"]), default="random", show_default=True, help=HELD_OUT)
@LONG_TABLE
@AS_JSON
def evaluate(model: Path, file: Path, hold: str, columns: Columns, as_json: bool) -> None:
    """Rank an item held out of each basket of FILE among all others."""
    fitted, baskets = KernelDPP.load(model), read_baskets(file, columns or None)
    result = completion(fitted, baskets, hold, rng=0)
    if as_json:
        print_json({"hold": hold, **asdict(result)})
        return
    click.echo(f"baskets                 {result.n_baskets} ({result.n_small} of fewer than two items left out)")
    click.echo(f"log-likelihood          {result.log_likelihood:.4f} per basket")
    click.echo(f"mean percentile rank    {result.mpr:.2f} +- {result.mpr_error:.2f}")
    for k, recall in result.recall.items():
        click.echo(f"among the first {k:<8d}{100 * recall:.1f} %")
    click.echo(f"AUC against random sets {result.auc:.4f}")
    if result.n_unseen:
        say(f"Left out {result.n_unseen} items that the model does not know.")


def as_dicts(records: list[Any]) -> list[dict[str, Any]]:
    """Named tuples as dictionaries."""
    return [record._asdict() for record in records]


def as_named(model: Any, items: list[str] | tuple[str, ...]) -> list[Any]:
    """Items as the model names them: numbers, where it has numbers."""
    if model.items_.dtype.kind == "U":
        return list(items)
    bad = [item for item in items if not item.lstrip("-").isdigit()]
    if bad:
        raise ValueError(f"The items of this model are whole numbers, such as {model.items_[0]}; found {bad[0]!r}.")
    return [int(item) for item in items]


def read_baskets(path: Path, columns: tuple[str, str] | None = None) -> list[list[Any]]:
    """The baskets of a file.

    With `columns`, of a basket's name and of an item, a long table. Otherwise each line is a basket: items separated by
    tabs, commas or semicolons, whichever the file has first, else by blanks; an empty line is an empty basket. In
    JSON Lines a line is a list, or an object with a list called "items"; in Parquet "items" is a column of lists. Items
    that are all whole numbers are read as such.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give a file of baskets: one a line, or a table with --long.")
    if columns is not None:
        return from_table(path, *columns)
    if path.suffix.lower() == ".parquet":
        return from_parquet(path)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        texts = ((line.where, line.text().strip()) for line in read_lines(path, path))
        return [from_json(where, text) for where, text in texts if text]
    lines = [line.text() for line in read_lines(path, path)]
    separator = next((mark for mark in ("\t", ",", ";") if any(mark in line for line in lines)), None)
    if separator is None:
        return as_numbers([line.split() for line in lines])
    baskets = [[cell.strip() for cell in row if cell.strip()] for _, row in csv_rows(lines, path, separator)]
    if len(baskets) > 1 and {cell for row in baskets[1:] for cell in row} == {"0", "1"}:
        raise ValueError(f"{path} is a table of 0 and 1: write the names of the items of each row.")
    if (advice := long_table_advice(baskets)) is not None:
        raise ValueError(
            f"{path} is a long table, with a row for each item, not a basket a line: give it {advice}. If each line is "
            "a basket, leave a line of names out, or write it as JSON Lines, a list a line."
        )
    return as_numbers(baskets)


def long_table_advice(rows: list[list[str]]) -> str | None:
    """What to give for rows that are plainly a table's: as many cells in all, but for one row in GAPS or a single one.

    Either the first line has names that do not occur again, over a column of whole numbers or over many rows of columns
    that have no value in common; or two columns do without names, whole numbers and what is none, or a first column
    whose values stand in runs.
    """
    head, *below = rows or [[]]
    full = [row for row in below if len(row) == len(head)]
    if len(head) < 2 or len(full) < 2 or len(below) - len(full) > max(1, len(full) // GAPS):
        return None
    named = {*head}.isdisjoint(cell for row in below for cell in row)
    columns = [*zip(*(full if named else [head, *full]), strict=True)]
    values = [{*column} for column in columns]
    apart = sum(map(len, values)) == len(set().union(*values)) and min(map(len, values)) < len(full)
    numbers = [all(cell.isdecimal() for cell in column) for column in columns]
    if named:
        over_numbers = any(column and not name.isdecimal() for column, name in zip(numbers, head, strict=True))
        return (
            f"--long BASKET ITEM, such as --long {head[0]!r} {head[1]!r}"
            if over_numbers or (apart and len(full) >= PLAIN)
            else None
        )
    numbered = numbers[0] and not any(item.isdecimal() for item in columns[-1])
    in_runs = len([*groupby(columns[0])]) == len(values[0]) < len(columns[0])
    if apart and len(full) >= PLAIN and len(head) == 2 and (numbered or in_runs):
        return 'a first line of names, such as "basket,item", and --long basket item'
    return None


def from_table(path: Path, basket: str, item: str) -> list[list[Any]]:
    """Baskets of a long table, in the order in which their first rows stand."""
    table = read_items(path)
    owners, names = ([*table.column(name, missing=True)] for name in (basket, item))
    if all(isinstance(name, str) for name in names):
        [names] = as_numbers([names])
    try:
        baskets = Baskets.from_long({basket: owners, item: names}, basket=basket, item=item)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    items = baskets.items[baskets.indices].tolist()
    return [items[a:b] for a, b in pairwise(baskets.indptr.tolist())]


def from_parquet(path: Path) -> list[list[Any]]:
    """Baskets of a column of lists."""
    table = read_items(path)
    name = next((name for name in LISTS if name in table.fields), None)
    if name is None:
        raise ValueError(
            f"{path} must have a column of lists called {' or '.join(map(repr, LISTS))}, found "
            f"{', '.join(table.fields)}. For a row for each item, give --long BASKET ITEM."
        )
    baskets = [[] if basket is None else basket for basket in table.get(name)]
    for k, basket in enumerate(baskets):
        if not isinstance(basket, list):
            raise ValueError(f"{table.place(k)}: {name!r} must be a list of items, found {basket!r:.60}.")
    return baskets


def from_json(where: str, line: str) -> list[Any]:
    """A basket from a line of JSON."""
    record = parse_json(line, where)
    if isinstance(record, dict):
        record = next((record[name] for name in LISTS if name in record), None)
    if not isinstance(record, list):
        raise ValueError(
            f'{where} must be a list of items, or an object with a list called "items". For an object for each item, '
            "give --long BASKET ITEM."
        )
    return record


def as_numbers(rows: list[list[str]]) -> list[list[Any]]:
    """Items as whole numbers, if all of them are."""
    if all(cell.isascii() and cell.isdigit() and len(cell) < 19 for row in rows for cell in row):
        return [[int(cell) for cell in row] for row in rows]
    return list(rows)
