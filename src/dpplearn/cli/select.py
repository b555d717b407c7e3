"""dpplearn select: choose items that score high and differ from each other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.atomic import replace_file
from dpplearn.cli import check_out, say, usage_errors
from dpplearn.cli.applied import apply_model
from dpplearn.cli.bars import bars
from dpplearn.cli.embedded import EMBEDDINGS, embed, field, read_vectors
from dpplearn.cli.explained import as_record, explanation, labels
from dpplearn.cli.formats import FORMATS, format_of, read_items, write_items
from dpplearn.cli.items import Items
from dpplearn.cli.options import DECODERS_HELP, DIVERSITY, ENCODER, DecoderName, Size, WholeNumber
from dpplearn.cli.parquet import need_pyarrow
from dpplearn.cli.parts import parts_of
from dpplearn.cli.reports import check_report, write_report
from dpplearn.decoding.dask import choose_in_parts
from dpplearn.decoding.diversify import KERNELS, Settings, diversify
from dpplearn.decoding.registry import DECODERS

SCORES = ("score", "scores")


@click.command(name="select")
@click.argument("items", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path), metavar="ITEMS")
@click.option(
    "--format", "given", type=click.Choice(FORMATS), help="Of ITEMS.  [default: as its name says; jsonl for -]"
)
@click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A ConditionalDPP that was saved: it says which fields count, and for how much.",
)
@click.option("--score", metavar="FIELD", help="Relevance, in any unit.  [default: score, if there is such a field]")
@click.option(
    "--embedding",
    metavar="FIELD",
    help="List of numbers, or fields of one each: e0:e15, or 'e*'.  [default: embedding, if there is such a field]",
)
@click.option("--text", metavar="FIELD", help="Text, compared by tf-idf.  [default: text, if there are no embeddings]")
@ENCODER
@click.option("--dimensions", type=WholeNumber(1), metavar="D", help="Reduce what texts are made into, by an SVD.")
@click.option("--cost", metavar="FIELD", help="What an item takes of the budget.")
@click.option("--budget", type=float, metavar="N", help="Largest total cost.")
@click.option(
    "-k",
    "--k",
    type=Size(0),
    metavar="N",
    help="Number of items (at most, unless --decoder is greedy); auto: while one adds --min-gain of the first.",
)
@click.option(
    "--min-gain", type=float, default=0.01, show_default=True, help="Of what the first item adds, for -k auto."
)
@click.option(
    "--kernel",
    type=click.Choice(KERNELS),
    default="auto",
    show_default=True,
    help="How items are compared: linear by direction, near also beyond their directions; auto is near where k is.",
)
@click.option("--nugget", type=float, metavar="X", help="Of each item that is its own.  [default: 0]")
@click.option("--group", metavar="FIELD", help="Source, class or language of an item.")
@click.option("--max-per-group", type=WholeNumber(0), metavar="N", help="Largest number of items of a group.")
@click.option("--min-per-group", type=WholeNumber(0), metavar="N", help="Smallest number of items of a group.")
@click.option("--backfill", is_flag=True, help="Once no group has room, go on beyond --max-per-group, best first.")
@click.option("--id", "id_", metavar="FIELD", help="Name of an item, for --explain; no two may have the same.")
@click.option("--title", metavar="FIELD", help="Title of an item, for --explain.")
@DIVERSITY
@click.option(
    "--decoder", type=DecoderName(), metavar="NAME", default="greedy", show_default=True, help=f"{DECODERS_HELP}."
)
@click.option(
    "--explain", is_flag=True, help="Say what each item that was kept is most like, and why the others were skipped."
)
@click.option(
    "--lines",
    type=WholeNumber(0),
    default=20,
    show_default=True,
    help="Of --explain, at most; 0 for all of them.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file, in the format that its name says, not to the screen.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object: places, gains and, with --explain, reasons.")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write there chosen.csv, left-out.csv with what covers each, and selection.svg.",
)
@click.option(
    "--backend",
    type=click.Choice(["here", "dask"]),
    default="here",
    show_default=True,
    help="dask: parts of a .parquet or .npy file in several processes, for what is larger than memory.",
)
@click.option("--jobs", type=WholeNumber(1), metavar="N", help="Processes of --backend dask.  [default: all cores]")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where --backend dask keeps what each part gave, and finds it again.",
)
@click.option("--encoding", default="utf-8", show_default=True, help="Of the file.")
def command(
    items: Path,
    given: str | None,
    model: Path | None,
    score: str | None,
    embedding: str | None,
    text: str | None,
    encoder: str | None,
    dimensions: int | None,
    cost: str | None,
    budget: float | None,
    k: int | str | None,
    min_gain: float,
    kernel: str,
    nugget: float | None,
    group: str | None,
    max_per_group: int | None,
    min_per_group: int | None,
    backfill: bool,
    id_: str | None,
    title: str | None,
    diversity: float,
    decoder: str,
    explain: bool,
    lines: int,
    out: Path | None,
    as_json: bool,
    report: Path | None,
    backend: str,
    jobs: int | None,
    work: Path | None,
    encoding: str,
) -> None:
    """Choose from ITEMS those that score high and differ from each other.

    ITEMS is a file of JSON Lines (.jsonl), a .json list of objects, .csv or .tsv with names in its first line,
    .parquet (needs pyarrow), .npz with arrays of one row per item, or one .npy array of embeddings; or - for standard
    input, read as JSON Lines unless --format says otherwise. Prints the chosen items as they came (lists, Parquet and
    arrays as JSON Lines), in the order of selection; --out FILE takes the same formats but lists, and .json with
    --json. Without -k and --budget, items are taken while they add something. With --model, fields hold numbers and
    categories as in the table that it learned from.
    """
    if model is not None and (score is not None or text is not None):
        raise click.UsageError("--model says what counts: leave --score and --text out.")
    if model is not None:
        others = {"--nugget": nugget, "--encoder": encoder, "--dimensions": dimensions}
        given_too = [name for name, value in others.items() if value is not None]
        flags = {"--kernel": kernel != "auto", "--backfill": backfill, "--backend dask": backend == "dask"}
        given_too += [name for name, given_it in flags.items() if given_it]
        if k == "auto":
            raise click.UsageError("With --model, leave -k auto out: items are then taken while they add something.")
        if given_too:
            raise click.UsageError(f"{given_too[0]} is for items with scores and embeddings: leave --model out.")
    if embedding is not None and text is not None:
        raise click.UsageError("Give --embedding or --text, not both.")
    if embedding is not None and (encoder is not None or dimensions is not None):
        raise click.UsageError("--encoder and --dimensions make embeddings of texts: leave --embedding out.")
    if budget is not None and cost is None:
        raise click.UsageError(
            "--budget needs --cost FIELD, what each item takes of it. For a number of items, give -k."
        )
    if backend == "here" and (jobs is not None or work is not None):
        raise click.UsageError("--jobs and --work are for --backend dask.")
    with usage_errors():
        wanted = None if out is None else format_to_write(out, as_json)
    check_out(out)
    check_report(report)
    if cost is not None and budget is None:
        say("No --budget: --cost limits nothing.")
    if group is not None and report is None and max_per_group is None and min_per_group is None:
        say("No --max-per-group or --min-per-group: --group limits nothing.")
    found = read_items(items, encoding, given)
    if not found.records:
        raise ValueError(f"{found.name} holds no items: there is nothing to select from.")
    names = labels(found, id_, title)
    costs = None if cost is None else read_costs(found, cost)
    options: dict[str, Any] = {"k": k, "budget": budget, "diversity": diversity}
    options |= {"rng": 0} if DECODERS[decoder].random else {}  # the same items, the same answer
    groups = None if group is None else found.groups(group)
    per_group: dict[str, Any] = {"groups": groups, "max_per_group": max_per_group, "min_per_group": min_per_group}
    limits: dict[str, Any] = {"nugget": nugget, "min_gain": min_gain, "kernel": kernel, "backfill": backfill}
    limits |= per_group
    applied = None
    scores = None if model is not None else read_scores(found, score)
    if model is not None and found.records:
        applied = apply_model(model, found, embedding, costs, decoder, per_group, **options)
        if decoder == "sampled" and not len(applied.chosen):  # no sample was small enough: draw smaller ones
            applied = apply_model(model, found, embedding, costs, decoder, per_group, tilt=True, **options)
        chosen, scores = applied.chosen, applied.scores
    elif backend == "dask":
        parts, columns = parts_of(items, found, field(found, embedding, EMBEDDINGS) or EMBEDDINGS[0])
        settings = Settings(
            k, budget, diversity, decoder, 1.0, nugget, min_gain, max_per_group, min_per_group, backfill, kernel
        )
        call: dict[str, Any] = {"cost": costs, "groups": groups, "n_jobs": jobs, "work": work}
        with bars() as show:
            try:
                chosen = choose_in_parts(parts, columns, scores, settings, progress=show, **call)
            except ValueError as error:
                raise ValueError(f"{found.name}: {error}") from None
    else:
        made = encoder is not None or dimensions is not None  # of texts, though the file may have embeddings
        dense = kernel == "near"
        vectors = read_vectors(found, embedding, text, made, lambda texts: embed(texts, encoder, dimensions, dense))
        if scores is None:
            scores = read_scores(found, score)
        chosen = diversify(vectors, scores, cost=costs, decoder=decoder, **options, **limits)
        if decoder == "sampled" and found.records and not len(chosen):
            chosen = diversify(vectors, scores, cost=costs, decoder=decoder, tilt=True, **options, **limits)
    if as_json:
        record = json.dumps(as_record(found, chosen, explain, applied), indent=2, ensure_ascii=False) + "\n"
        output = record.encode("utf-8", "backslashreplace")
    else:
        output = write_items(
            found, chosen.subset, wanted or (found.format if found.format in ("csv", "tsv") else "jsonl")
        )
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
        said = list(explanation(replace(found, places=names), chosen, applied))
        for line in said[: lines or None]:
            say(line)
        if lines and len(said) > lines:
            say(f"... and {len(said) - lines} more lines: --lines 0 shows all, --json --out FILE writes them.")


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
