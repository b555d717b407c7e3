"""dpplearn select: choose items that score high and differ from each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.atomic import replace_file
from dpplearn.cli import check_out, say, usage_errors
from dpplearn.cli.applied import Applied, apply_model
from dpplearn.cli.bars import bars
from dpplearn.cli.explained import as_record, explanation
from dpplearn.cli.formats import format_of, read_items, write_items
from dpplearn.cli.items import Items
from dpplearn.cli.options import (
    DECODER,
    DECODER_NAMES,
    DIVERSITY,
    ENCODING,
    FILE,
    JOBS,
    PATH,
    Command,
    Size,
    more,
)
from dpplearn.cli.parquet import need_pyarrow
from dpplearn.cli.parts import parts_of
from dpplearn.cli.reports import check_report, write_report
from dpplearn.decoding.dask import choose_in_parts
from dpplearn.decoding.diversify import Settings, diversify
from dpplearn.decoding.registry import DECODERS
from dpplearn.decoding.selection import DiverseSelection

SCORES, EMBEDDINGS, TEXTS = ("score", "scores"), ("embedding", "embeddings"), ("text", "texts")  # usual names
LINES = 20  # of reasons on a screen


@click.command(name="select", cls=Command)
@click.argument("items", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path), metavar="ITEMS")
@click.option("--score", metavar="FIELD", help="Relevance, in any unit.  [default: score]")
@click.option("--embedding", metavar="FIELD", help="Numbers: a list, e0:e15 or 'e*'.  [default: embedding]")
@click.option("--text", metavar="FIELD", help="Compared by its words.  [default: text]")
@click.option("-k", "--k", type=Size(0), metavar="N", help="Number of items; auto: while one adds something.")
@DIVERSITY
@click.option("--explain", is_flag=True, help="Say why items were kept and skipped.")
@click.option("--out", type=FILE, help="Write to this file, in the format that its name says.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; with --explain, reasons in it.")
@more("--model", type=PATH, help="A ConditionalDPP: it says which fields count.")
@more("--budget", type=float, metavar="N", help="Largest total cost.")
@more("--cost", metavar="FIELD", help="What an item takes of the budget.")
@more("--group", metavar="FIELD", help="Source, class or language of an item.")
@more("--max-per-group", type=click.IntRange(0), metavar="N", help="Most items of a group.")
@more("--min-per-group", type=click.IntRange(0), metavar="N", help="Fewest items of a group.")
@DECODER(default="greedy", help=f"{DECODER_NAMES}.")
@more("--report", type=FILE, metavar="FOLDER", help="Write there chosen.csv, left-out.csv and selection.svg.")
@more("--work", type=FILE, metavar="FOLDER", help="For files beyond memory: what each part gave.")
@JOBS
@ENCODING
def command(
    items: Path,
    score: str | None,
    embedding: str | None,
    text: str | None,
    explain: bool,
    out: Path | None,
    as_json: bool,
    model: Path | None,
    cost: str | None,
    group: str | None,
    max_per_group: int | None,
    min_per_group: int | None,
    decoder: str,
    report: Path | None,
    work: Path | None,
    jobs: int,
    encoding: str | None,
    **options: Any,
) -> None:
    """Choose from ITEMS those that score high and differ from each other.

    ITEMS is .jsonl, a .json list of objects, .csv or .tsv with names in its first line, .parquet, .npz with arrays of
    one row per item, or one .npy array of embeddings; or - for JSON Lines from standard input. Prints the chosen items
    as they came (lists, Parquet and arrays as JSON Lines), in the order of selection. Without -k and --budget, items
    are taken while they add something. With --work, a run that was stopped goes on when it is run again.
    """
    check_together(model, score, embedding, text, cost, work, options)
    with usage_errors():
        wanted = None if out is None else format_to_write(out, as_json)
    check_out(out)
    check_report(report)
    if cost is not None and options["budget"] is None:
        say("No --budget: --cost limits nothing.")
    if group is not None and report is None and max_per_group is None and min_per_group is None:
        say("No --max-per-group or --min-per-group: --group limits nothing.")
    found = read_items(items, encoding or "utf-8")
    if not found.records:
        raise ValueError(f"{found.name} holds no items: there is nothing to select from.")
    costs = None if cost is None else read_costs(found, cost)
    groups = None if group is None else found.groups(group)
    quota: dict[str, Any] = {"groups": groups, "max_per_group": max_per_group, "min_per_group": min_per_group}
    applied: Applied | None = None
    scores = None if model is not None else read_scores(found, score)
    if work is not None:
        chosen = choose_from_parts(items, found, embedding, scores, costs, quota, decoder, options, jobs, work)
    else:
        vectors = None if model is not None else read_vectors(found, embedding, text)
        for tilt in ({}, {"tilt": True}) if decoder == "sampled" else ({},):  # of too large samples, draw smaller ones
            how = {"decoder": decoder, **tilt, **options, **({"rng": 0} if DECODERS[decoder].random else {})}
            if model is not None:
                applied = apply_model(model, found, embedding, costs, quota, **how)
                chosen, scores = applied.chosen, applied.scores
            else:
                chosen = diversify(vectors, scores, cost=costs, **quota, **how)
            if len(chosen):
                break
    if as_json:
        record = json.dumps(as_record(found, chosen, explain, applied), indent=2, ensure_ascii=False) + "\n"
        output = record.encode("utf-8", "backslashreplace")
    else:
        kind = wanted or (found.format if found.format in ("csv", "tsv") else "jsonl")
        output = write_items(found, chosen.subset, kind)
    if out is None:
        click.echo(output, nl=False)
    else:
        with replace_file(out, "wb") as file:
            file.write(output)
    say(f"{len(chosen)} of {len(found.records)} items: {chosen.reason}.")
    if report is not None:
        files = write_report(report, found, chosen, scores, groups)
        say(f"Wrote {', '.join(file.name for file in files)} in {report}.")
    if explain and not as_json:
        said = list(explanation(found, chosen, applied))
        for line in said[:LINES]:
            say(line)
        if len(said) > LINES:
            say(f"... and {len(said) - LINES} more lines, which --json --out FILE writes.")


def check_together(
    model: Path | None,
    score: str | None,
    embedding: str | None,
    text: str | None,
    cost: str | None,
    work: Path | None,
    options: dict[str, Any],
) -> None:
    """Options that exclude or need each other."""
    wrong = {
        "--model says what counts: leave --score and --text out.": model and (score or text),
        "With --model, leave -k auto out: items are then taken while they add something.": model
        and options["k"] == "auto",
        "--work is for items with scores and embeddings: leave --model and --text out.": work and (model or text),
        "Give --embedding or --text, not both.": embedding and text,
        "--budget needs --cost FIELD, what each item takes of it. For a number of items, give -k.": cost is None
        and options["budget"] is not None,
    }
    for message, holds in wrong.items():
        if holds:
            raise click.UsageError(message)


def choose_from_parts(
    path: Path,
    items: Items,
    embedding: str | None,
    scores: FloatArray | None,
    costs: FloatArray | None,
    quota: dict[str, Any],
    decoder: str,
    options: dict[str, Any],
    jobs: int,
    work: Path,
) -> DiverseSelection:
    """Choose from parts of a file in several processes, and keep in a folder what each part gave."""
    defaults: dict[str, Any] = {"scale": 1.0, "nugget": None, "min_gain": 0.01, "backfill": False, "kernel": "auto"}
    groups = quota.pop("groups")
    settings = Settings(**defaults, **quota, **options, decoder=decoder)
    parts, columns = parts_of(path, items, field(items, embedding, EMBEDDINGS) or EMBEDDINGS[0])
    with bars() as show:
        try:
            return choose_in_parts(
                parts, columns, scores, settings, cost=costs, groups=groups, n_jobs=jobs, work=work, progress=show
            )
        except ValueError as error:
            raise ValueError(f"{items.name}: {error}") from None


def format_to_write(out: Path, as_json: bool) -> str | None:
    """The format that the name of the file to write says, if it can be written; None for a device or a FIFO."""
    if out.exists() and not out.is_file():
        return None
    if as_json and out.suffix.lower() != ".json":
        raise ValueError(f"With --json, the name of --out must end in .json, found {out}.")
    if as_json:
        return "json"
    if out.suffix.lower() == ".json":
        raise ValueError(f"{out} is for one JSON object: give --json, or a name that ends in .jsonl for the items.")
    wanted = format_of(out, "For one JSON object in a file that ends in .json, give --json.")
    if wanted == "parquet":
        need_pyarrow(f"Writing {out}")
    return wanted


def field(items: Items, given: str | None, usual: tuple[str, ...]) -> str | None:
    """The field named, or the first of the usual names that the file has."""
    return given if given is not None else next((name for name in usual if items.has(name)), None)


def read_scores(items: Items, given: str | None) -> FloatArray:
    name = field(items, given, SCORES)
    if name is None:
        say("No --score: all items count the same.")
        return np.zeros(len(items.records))
    return items.numbers(name)


def read_costs(items: Items, name: str) -> FloatArray:
    costs = items.numbers(name)
    for x, place in zip(costs, items.places, strict=True):
        if x <= 0:
            raise ValueError(f"{place}: the field {name!r} must be positive, found {x:g}.")
    return costs


def read_vectors(items: Items, embedding: str | None, text: str | None) -> Any:
    """Embeddings from the file or, where there are none, tf-idf rows of its texts."""
    name = field(items, embedding, EMBEDDINGS) if text is None else None
    if name is not None:
        many = items.wide(name)
        return items.matrix(many) if many else items.vectors(name)
    name = field(items, text, TEXTS)
    if name is None:
        raise ValueError(
            f"{items.name} has neither embeddings nor texts under the usual names. Fields found: "
            f"{', '.join(items.records[0])}. Name one by --embedding or --text."
        )
    return tfidf(items.texts(name))


def tfidf(texts: list[str]) -> Any:
    """Sparse tf-idf rows; a text without words has a row of zeros, and is similar to none."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit_transform(texts)
    except ValueError:  # no text has a word
        return np.zeros((len(texts), 1))
