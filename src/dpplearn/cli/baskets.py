"""dpplearn baskets: learns from a file of baskets which items go together, recommends items, and says how well."""

from __future__ import annotations

import re
from collections import Counter
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

MANY = 20  # lines from which a table is told by its texts: fewer baskets may look like one by chance
ROW_FOR_EACH = "If each row is one item of a basket, give --long BASKET ITEM."
LEAVE_OUT = 'Leave that column out, or write columns id and items, all items in one quoted cell: 7,"bib;cot".'
GAPS = 10  # of so many rows of a table, one may lack a cell
IN_QUOTES = re.compile('"[^"]*"')
Columns = tuple[str, str] | None
TABLE = "FILE is a table with a row for each item; these columns hold the basket and the item."
LONG_TABLE = click.option("--long", "columns", nargs=2, metavar="BASKET ITEM", help=TABLE)
HELD_OUT = "Item of each basket to hold out."
COUNT = "Number of items or pairs."
HOW_MANY = click.option("-k", "--k", type=click.IntRange(1), default=10, show_default=True, help=COUNT)


@click.group(name="baskets")
def baskets_command() -> None:
    """Learn which items come together, and which replace each other, from baskets.

    FILE has a basket on each line, with tabs, semicolons, commas or blanks between the items. It may also be JSON Lines
    with a list on each line, CSV or Parquet with a column "items", or a table with a row for each item (--long).
    """


@baskets_command.command(cls=Command)
@click.argument("file", type=PATH)
@click.option("--out", type=FILE, required=True, help="Model file to write, JSON.")
@click.option("--rank", type=click.IntRange(1), help="Rank of the kernel.  [default: full, up to 1500 items]")
@click.option("--symmetric", is_flag=True, help="Let items only repel each other.")
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
    mean, first = model.log_likelihood_ / len(baskets), model.items_.tolist()[0]
    say(
        f"{len(baskets)} baskets ({model.n_empty_} empty) of {len(model.items_)} items, such as {first!r}: "
        f"log-likelihood per basket {mean:.4f} with alpha {model.alpha_:g}. Wrote {out}."
    )


@baskets_command.command(cls=Command)
@click.argument("model", type=PATH)
@click.argument("items", nargs=-1, metavar="ITEM...")
@HOW_MANY
@click.option("--exclude", multiple=True, metavar="ITEM", help="Item to leave out; may be repeated.")
@AS_JSON
def recommend(model: Path, items: list[str], k: int, exclude: list[str], as_json: bool) -> None:
    """List what comes next to a basket of ITEMs, with probabilities."""
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
    """List what attracts and what repels ITEM, or all pairs.

    The correlation of being in the same basket is the model's. The lift is the number of baskets with both items in the
    data, as a multiple of what it would be if they were independent.
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
    """Hold an item of each basket of FILE out, and rank it."""
    fitted, baskets = KernelDPP.load(model), read_baskets(file, columns or None)
    result = completion(fitted, baskets, hold, rng=0)
    if as_json:
        print_json({"hold": hold, **asdict(result)})
        return
    click.echo(f"baskets                 {result.n_baskets} ({result.n_small} with fewer than two items left out)")
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
    """Items as the model names them, which may be by numbers."""
    if model.items_.dtype.kind == "U":
        return list(items)
    bad = [item for item in items if not item.lstrip("-").isdigit()]
    if bad:
        raise ValueError(f"The items of this model are whole numbers, such as {model.items_[0]}; found {bad[0]!r}.")
    return [int(item) for item in items]


def read_baskets(path: Path, columns: Columns = None) -> list[list[Any]]:
    """The baskets of a file; items that are all whole numbers become numbers.

    With `columns`, the names of two columns, the file is a table with a row for each item of a basket. Otherwise a line
    of text is a basket (see `from_text`), a line of JSON Lines is a list or an object with a list called "items", and
    Parquet has a column of lists called "items".
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
    return as_numbers(from_text(path))


def from_text(path: Path) -> list[list[str]]:
    """A basket from each line, or from each cell of a column called "items" that holds whole baskets."""
    rows = split_lines([line.text() for line in read_lines(path, path)], path)
    names = [cell.lower() for cell in rows[0]] if rows else []
    if "items" in names or all(len(row) < 2 for row in rows):
        at, first = (names.index("items"), 1) if "items" in names else (0, 0)
        cells = [row[at] if len(row) > at else "" for row in rows[first:]]
        if separator_of(cells) is not None:
            return [[cell for cell in row if cell] for row in split_lines(cells, path)]
    baskets = [[cell for cell in row if cell] for row in rows]
    if len(baskets) > 1 and {cell for row in baskets[1:] for cell in row} == {"0", "1"}:
        raise ValueError(f"{path} is a table of 0 and 1: write the names of the items of each row.")
    if (wrong := wide_table(rows) or named_baskets(baskets) or long_table(baskets)) is not None:
        raise ValueError(f"{path} {wrong} If each line is a basket, write it as JSON Lines, a list a line.")
    for which, at in (("first", 0), ("last", -1)):
        if names := names_apart([row for row in baskets if row], at):
            what = f"{path}: the {which} column ({', '.join(names[:3])}) shares no value with the others"
            say(f"Warning: {what}, but is read as items. Does it hold customers, dates or receipts? {LEAVE_OUT}")
    return baskets


def separator_of(lines: list[str]) -> str | None:
    """The tab, semicolon or comma that separates cells in most of the lines; None where no line has one."""
    bare = [IN_QUOTES.sub("", line) for line in lines]
    counts = {mark: sum(mark in line for line in bare) for mark in "\t;,"}
    mark = max(counts, key=counts.__getitem__)  # of equals the first: commas are in names, too
    return mark if counts[mark] else None


def split_lines(lines: list[str], path: Path) -> list[list[str]]:
    """The cells of each line, between separators or else blanks; a cell in quotation marks may hold either."""
    mark = separator_of(lines)
    if mark is None and not any('"' in line for line in lines):
        return [line.split() for line in lines]
    return [[cell.strip() for cell in row] for _, row in csv_rows(lines, path, mark or " ")]


def wide_table(rows: list[list[str]]) -> str | None:
    """What is wrong where the first line names columns of a table, in which most rows end with empty cells."""
    head, *below = rows or [[]]
    gaps, cells = sum("" in row for row in below), {cell for row in below for cell in row}
    if len(head) < 3 or "" in head or {*map(len, below)} != {len(head)} or 2 * gaps < len(below) or cells & {*head}:
        return None
    return f"begins with names of columns, such as {head[0]!r}. Leave that line out, and each column without items."


def named_baskets(rows: list[list[str]]) -> str | None:
    """What is wrong where the first cell of each line is the name of the basket, and not an item.

    Such cells are all different, and either numbers before items that are no numbers, or found nowhere else in a file
    of many lines whose other cells repeat, or many numbers that count the lines.
    """
    rows = [row for row in rows if row]
    headed = len(rows) > 2 and not rows[0][0].isdecimal() and {*rows[0]}.isdisjoint(x for row in rows[1:] for x in row)
    for lines in [rows, rows[1:]] if headed else [rows]:
        firsts, items = [row[0] for row in lines], [cell for row in lines for cell in row[1:]]
        if len(firsts) < 2 or len({*firsts}) < len(firsts) or 2 * sum(len(row) > 1 for row in lines) < len(lines):
            continue
        numbers, many = all(cell.isdecimal() for cell in firsts), len(lines) >= MANY
        apart = {*items}.isdisjoint(firsts)
        counted = numbers and [int(cell) - int(firsts[0]) for cell in firsts] == [*range(len(firsts))]
        before_texts = numbers and not any(item.isdecimal() for item in items)
        if (apart and (before_texts or (many and len({*items}) < len(items)))) or (many and counted):
            return f"begins each line with the name of a basket, such as {firsts[-1]!r}. {LEAVE_OUT}"
    return None


def names_apart(rows: list[list[str]], at: int) -> list[str]:
    """The different cells in the column `at` if these may be names of baskets that occur more than once.

    None of them stands in another column, but the other columns share values with each other, except for rare ones.
    """
    names, others = dict.fromkeys(row[at] for row in rows), [row[1:] if at == 0 else row[:-1] for row in rows]
    cells = [(cell, j) for row in others for j, cell in enumerate(row)]
    columns_of = Counter(cell for cell, _ in {*cells})
    shared = {j for cell, j in cells if columns_of[cell] > 1}
    few_alone = cells and GAPS * sum(j not in shared for _, j in cells) <= len(cells)
    return [*names] if len(rows) >= MANY and few_alone and columns_of.keys().isdisjoint(names) else []


def long_table(rows: list[list[str]]) -> str | None:
    """What is wrong where the file is a long table: a row for each item, with the name of its basket.

    All lines then have as many cells, but for one in GAPS. Either the first line holds names that do not occur again,
    above whole numbers or above many rows of columns without a common value. Or there are two columns without a common
    value: numbers beside texts, or equal names of baskets one below the other.
    """
    head, *below = rows or [[]]
    full = [row for row in below if len(row) == len(head)]
    if len(head) < 2 or len(full) < 2 or len(below) - len(full) > max(1, len(full) // GAPS):
        return None
    named = {*head}.isdisjoint(cell for row in below for cell in row)
    columns = [*zip(*(full if named else [head, *full]), strict=True)]
    values = [{*column} for column in columns]
    apart = sum(map(len, values)) == len(set().union(*values)) and min(map(len, values)) < len(full)
    numbers, many = [all(cell.isdecimal() for cell in column) for column in columns], len(full) >= MANY
    options = None
    if named:
        if (apart and many) or any(x and not name.isdecimal() for x, name in zip(numbers, head, strict=True)):
            options = f"--long BASKET ITEM, such as --long {head[0]!r} {head[1]!r}."
    elif apart and many and len(head) == 2:
        numbered = numbers[0] and not any(item.isdecimal() for item in columns[-1])
        if numbered or len([*groupby(columns[0])]) == len(values[0]) < len(columns[0]):
            options = 'a first line of names, such as "basket,item", and --long basket item.'
    return options and f"is a long table, with a row for each item, not a basket a line: give it {options}"


def from_table(path: Path, basket: str, item: str) -> list[list[Any]]:
    """Baskets of a long table, in the order of their first rows."""
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
    """Baskets of a column of lists called "items"."""
    table = read_items(path)
    if "items" not in table.fields:
        found = ", ".join(table.fields)
        raise ValueError(f"{path} must have a column of lists called 'items', found {found}. {ROW_FOR_EACH}")
    baskets = [[] if basket is None else basket for basket in table.get("items")]
    for k, basket in enumerate(baskets):
        if not isinstance(basket, list):
            raise ValueError(f"{table.place(k)}: 'items' must be a list of items, found {basket!r:.60}.")
    return baskets


def from_json(where: str, line: str) -> list[Any]:
    """A basket from a line of JSON."""
    record = parse_json(line, where)
    if isinstance(record, dict):
        record = record.get("items")
    if not isinstance(record, list):
        raise ValueError(f'{where} must be a list of items, or an object with a list called "items". {ROW_FOR_EACH}')
    return record


def as_numbers(rows: list[list[str]]) -> list[list[Any]]:
    """Items as whole numbers if all of them are, else unchanged."""
    if all(cell.isascii() and cell.isdigit() and len(cell) < 19 for row in rows for cell in row):
        return [[int(cell) for cell in row] for row in rows]
    return list(rows)
