"""dpplearn select: reads a table of items and prints those that score high and differ from each other."""

from __future__ import annotations

import fnmatch
import json
import re
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._io.atomic import replace_file
from dpplearn.cli import check_out, say, visible
from dpplearn.cli.bars import bars
from dpplearn.cli.formats import READABLE, WRITABLE, array_beside, format_of, read_items, write_items
from dpplearn.cli.items import Items
from dpplearn.cli.options import DECODER, DECODER_NAMES, DIVERSITY, ENCODING, FILE, JOBS, PATH, Command, Size, more
from dpplearn.cli.reasons import AppliedModel, as_record, explanation
from dpplearn.decoding.dask import choose_in_parts
from dpplearn.decoding.diversify import Settings, diversify, gain_for_auto
from dpplearn.decoding.selection import DiverseSelection
from dpplearn.learning.summary import Table, lines_of
from dpplearn.plots import import_plots

SCORES, EMBEDDINGS, TEXTS = ("score", "scores"), ("embedding", "embeddings"), ("text", "texts")  # usual names
PRINTED_LINES = 20  # lines of reasons that are printed


@click.command(name="select", cls=Command)
@click.argument("items", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path), metavar="ITEMS")
@click.option("--score", metavar="FIELD", help="Relevance in any unit, or .npy file.  [default: score]")
@click.option("--embedding", metavar="FIELD", help="A list, e0:e15, 'e*' or .npy file.  [default: embedding]")
@click.option("--text", metavar="FIELD", help="Texts to compare by their words.  [default: text]")
@click.option("-k", "--k", type=Size(0), metavar="N", help="How many; auto: as long as one adds something.")
@DIVERSITY
@click.option("--explain", is_flag=True, help="Say why items were kept and skipped.")
@click.option("--out", type=FILE, help="File to write, in the format of its ending.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with --explain also reasons.")
@more("--model", type=PATH, help="A saved ConditionalDPP that knows the fields.")
@more("--given", type=PATH, metavar="FILE", help="Items chosen before (or numbers), not to be repeated.")
@more("--budget", type=float, metavar="N", help="Largest sum of costs.")
@more("--cost", metavar="FIELD", help="What each item takes from the budget.")
@more("--group", metavar="FIELD", help="Source, class or language of each item.")
@more("--max-per-group", type=click.IntRange(0), metavar="N", help="Most items of a group.")
@more("--min-per-group", type=click.IntRange(0), metavar="N", help="Fewest items of a group.")
@DECODER(default="greedy", help=f"{DECODER_NAMES}.")
@more("--report", type=FILE, help="HTML page that compares the choice with others.")
@more("--window", type=click.IntRange(2), metavar="N", help="Order all items so that N in a row differ.")
@more("--work", type=FILE, metavar="FOLDER", help="For files beyond memory; a stopped run goes on from it.")
@JOBS
@ENCODING
def select_command(
    items: Path, explain: bool, out: Path | None, as_json: bool, report: Path | None, **limits: Any
) -> None:
    """Choose from ITEMS those that score high and differ from each other.

    ITEMS is a file: .jsonl, .csv or .tsv with names in line 1, .parquet, or an .npy array of embeddings. A - reads JSON
    Lines from standard input. The chosen items are printed unchanged (Parquet and arrays as JSON Lines), in the order
    in which they were chosen. Without -k and --budget, items are chosen as long as one adds something.
    """
    names = ("score", "embedding", "text", "model", "given", "cost", "group", "window", "work", "jobs", "encoding")
    score, embedding, text, model, given, cost, group, window, work, jobs, encoding = map(limits.pop, names)
    budgeted = limits["budget"] is not None
    unlimited = limits["max_per_group"] is None and limits["min_per_group"] is None
    for wrong, advice in (
        (
            model and (score or embedding or text or given),
            "--model knows which fields count: leave --score, --embedding, --text and --given out.",
        ),
        (model and limits["k"] == "auto", "Leave -k auto out: with --model, items are taken while they add something."),
        (work and (model or text), "--work needs items with embeddings: leave --model and --text out."),
        (window and (model or work or report), "--window orders a list: leave --model, --work and --report out."),
        (embedding and text, "Give --embedding or --text, not both."),
        (
            budgeted and cost is None,
            "--budget needs --cost FIELD, what each item takes. For a number, give -k.",
        ),
        (group is None and not unlimited, "--max-per-group and --min-per-group need --group FIELD."),
    ):
        if wrong:
            raise click.UsageError(advice)
    if cost is not None and not budgeted:
        say("--cost is not used, because there is no --budget.")
    if group is not None and report is None and unlimited:
        say("--group is not used, because there is no --max-per-group or --min-per-group.")
    ending = None if out is None else ending_to_write(out, as_json)
    check_out(out)
    check_out(report, "--report")
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"{report}: --report writes a page. Give it a name that ends in .html.")
    pages = None if report is None else import_plots("dpplearn.plots.report")  # now, as it may be missing
    table = read_items(items, encoding or "utf-8")
    if not table.n:
        raise ValueError(f"{table.name} holds no items: there is nothing to select from.")
    if given is not None:
        format_of(given, READABLE, "Give a file that --out wrote, or a .csv with a column item of numbers from 0.")
    before = None if given is None else read_items(given, encoding or "utf-8", None)
    costs = None if cost is None else read_costs(table, cost)
    groups = limits["groups"] = None if group is None else table.groups(group)
    applied = None
    if model is not None:
        applied = AppliedModel(model, table, costs)
        choose = applied.choose
    else:
        scores, limits["cost"] = read_scores(*array_beside(table, score, SCORES[0], 1)), costs
        source, embedding = array_beside(table, embedding, EMBEDDINGS[0], 2)
        if work is not None:
            choose = partial(choose_from_parts, source, before, embedding, scores, jobs, work)
        else:
            choose = partial(diversify, scores=scores, window=window, **read_vectors(source, before, embedding, text))
    if limits["decoder"] == "sampled" and work is None:
        limits["rng"] = 0
    chosen = choose(**limits)
    if limits["decoder"] == "sampled" and not len(chosen):  # all samples were too large: draw smaller ones
        chosen = choose(**limits, tilt=True)
    if as_json:
        record = json.dumps(as_record(table, chosen, explain, applied), indent=2, ensure_ascii=False) + "\n"
        output = record.encode("utf-8", "backslashreplace")
    else:
        kind = items.suffix.lower().removeprefix(".")
        output = write_items(table, chosen.subset, ending or (kind if kind in ("csv", "tsv") else "jsonl"))
    if out is None:
        click.echo(output, nl=False)
    else:
        with replace_file(out, "wb") as file:
            file.write(output)
    say(f"{len(chosen)} of {table.n} items: {chosen.reason}.")
    if report is not None and pages is not None:
        shown = None if groups is None else [visible(group) for group in groups]  # surrogates cannot be drawn
        if (compared := pages.compare(chosen)) is not None:
            say("\n".join(lines_of(Table("", tuple(compared.measures), tuple(compared.table)))))
        with replace_file(report, "wb") as file:
            file.write(visible(pages.report_page(chosen, compared, table.name, shown)).encode())
        say(f"Wrote {report}.")
    if explain and not as_json:
        reasons = list(explanation(table, chosen, applied))
        for line in reasons[:PRINTED_LINES]:
            say(line)
        if len(reasons) > PRINTED_LINES:
            say(f"... and {len(reasons) - PRINTED_LINES} more lines. To see them all, add --json --out FILE.")


def choose_from_parts(
    items: Items, before: Items | None, embedding: str | None, scores: FloatArray, jobs: int, work: Path, **options: Any
) -> DiverseSelection:
    """Choose from the parts of a file in several processes; the folder `work` keeps the result of each part."""
    name = usual_field(items, embedding, EMBEDDINGS) or EMBEDDINGS[0]
    parts, width = items.parts(name)
    given = None if before is None else rows_like(before, name, width)
    if given is not None:
        options["exclude"] = np.concatenate([part.start + repeated(part.read(), given) for part in parts])
    min_gain = None
    if isinstance(options["k"], str):
        min_gain, options["k"] = gain_for_auto(options["k"]), None
    settings = Settings(options.pop("diversity"), options.pop("decoder"), min_gain=min_gain)
    with bars() as progress:
        how: Any = {"n_jobs": jobs, "work": work, "progress": progress}
        try:
            return choose_in_parts(parts, width, scores, settings, options, given, **how)
        except ValueError as error:
            raise ValueError(f"{items.name}: {error}") from None


def ending_to_write(out: Path, as_json: bool) -> str | None:
    """The format of the file to write; None for JSON, a device or a pipe. An error if the format cannot be written."""
    if out.exists() and not out.is_file():
        return None
    if as_json != (out.suffix.lower() == ".json"):
        raise click.UsageError(f"{out}: with --json, give a file that ends in .json; without it, another ending.")
    if as_json:
        return None
    return format_of(out, WRITABLE, "For one JSON object in a file that ends in .json, give --json.")


def usual_field(items: Items, named: str | None, usual: tuple[str, ...]) -> str | None:
    """The field that the caller names, else the first of the usual names that the file has."""
    return named if named is not None else next((name for name in usual if name in items.fields), None)


def read_scores(items: Items, named: str | None) -> FloatArray:
    name = usual_field(items, named, SCORES)
    if name is None:
        say("There is no --score, so all items count the same.")
        return np.zeros(items.n)
    return items.numbers(name)


def read_costs(items: Items, name: str) -> FloatArray:
    costs = items.numbers(name)
    if (bad := np.flatnonzero(costs <= 0)).size:
        raise ValueError(f"{items.place(bad[0])}: the field {name!r} must be positive, found {costs[bad[0]]:g}.")
    return costs


def read_vectors(items: Items, before: Items | None, embedding: str | None, text: str | None) -> dict[str, Any]:
    """Embeddings, or else tf-idf rows of texts; with those given before, and the numbers of items that repeat them."""
    if before is not None and before.fields == ["item"]:
        return read_vectors(items, None, embedding, text) | {"given": before.item_numbers("item", items.n)}
    if text is None and (name := usual_field(items, embedding, EMBEDDINGS)) is not None:
        rows = items.vectors(name)
        if before is None:
            return {"embeddings": rows}
        given = rows_like(before, name, rows.shape[1])
        return {"embeddings": rows, "given": given, "exclude": repeated(rows, given)}
    name = usual_field(items, text, TEXTS)
    if name is None:
        advice = f"Fields found: {', '.join(items.fields)}. Name one: give --embedding FIELD or --text FIELD."
        raise ValueError(f"{items.name} has no field called 'embedding' or 'text'. {advice}")
    texts = items.texts(name)
    if before is None:
        return {"embeddings": tfidf(texts)}
    given_texts = before.texts(name)
    rows, again = tfidf([*texts, *given_texts]), set(given_texts)
    exclude = np.array([i for i, each in enumerate(texts) if each in again], np.int64)
    return {"embeddings": rows[: items.n], "given": rows[items.n :], "exclude": exclude}


def rows_like(before: Items, name: str, width: int) -> np.ndarray:
    """The embeddings of items that were chosen before, which must have as many numbers as those to choose from.

    If that file has no such field, they may be a list with a usual name, or that many numbered columns (e0, e1, ...).
    """
    first, _, last = name.partition(":")
    if not {first, last or first} <= {*before.fields} and len(fnmatch.filter(before.fields, name)) != width:
        ends = [field for field in before.fields if field[-1:].isdecimal()]
        runs = [[*many] for _, many in groupby(ends, lambda field: re.sub(r"\d+$", "", field))]
        numbered = (f"{many[0]}:{many[-1]}" for many in runs if len(many) == width)
        name = usual_field(before, None, EMBEDDINGS) or next(numbered, name)
    rows = before.vectors(name)
    if before.n and rows.shape[1] != width:
        raise ValueError(f"{before.name}: {name!r} has {rows.shape[1]} numbers, but that of ITEMS has {width}.")
    return rows.reshape(before.n, width)


def repeated(rows: np.ndarray, given: np.ndarray) -> IntArray:
    """The numbers of the rows that equal one of those given."""
    before = {row.tobytes() for row in given.astype(rows.dtype)}
    return np.array([i for i, row in enumerate(rows) if row.tobytes() in before], np.int64)


def tfidf(texts: list[str]) -> Any:
    """Sparse tf-idf rows; a text without words has a row of zeros, which is similar to no other."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit_transform(texts)
    except ValueError:  # no text has a word
        return np.zeros((len(texts), 1))
