"""dpplearn summarize, batch and train: summarize documents or a whole corpus, and train the summarizer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from dpplearn._io.atomic import replace_file
from dpplearn._io.encoding import MAX_BYTES, read_all
from dpplearn._run.workers import import_distributed
from dpplearn.cli import check_out, options, print_json, say, work_beside
from dpplearn.cli.bars import bars
from dpplearn.cli.options import CORPUS, FILE, Command
from dpplearn.summarize.batch import summarize_corpus
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.documents import parse_document
from dpplearn.summarize.corpora.reading import open_corpus
from dpplearn.summarize.summarizer import Summarizer


@click.command(name="summarize", cls=Command)
@click.argument("files", nargs=-1, required=True)
@options.summary_options
@click.option("--explain", is_flag=True, help="Print the reasons on standard error.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary and its reasons as JSON.")
@click.option("--html", type=FILE, help="Also write an HTML page with the sources marked.")
@options.ENCODING
def summarize_command(
    files: tuple[str, ...], explain: bool, as_json: bool, html: Path | None, encoding: str | None, **settings: Any
) -> None:
    """Print one summary of all FILES, which should be on one topic.

    FILES are text, Markdown, HTML, newswire, subtitles (.srt, .vtt), PDF, Word (.docx), OpenDocument (.odt), EPUB, RTF
    or e-mail (.eml, .mbox) files, or a folder of them, or - for standard input. Files that cannot be read are named and
    left out. The summary goes to standard output, one sentence per line, and everything else to standard error.
    """
    check_out(html, "--html")
    cluster = read_cluster(files, encoding)
    summarizer = Summarizer.load(settings.pop("model"))
    summary = summarizer.summarize(cluster, **with_unit(settings))
    if html is not None:
        with replace_file(html, "w") as file:
            file.write(summary.to_html())
        say(f"Wrote {html}.")
    if summary.note:
        say(summary.note)
    if summary.other_languages:
        say(f"Left out, in another language than the others: {', '.join(summary.other_languages)}.")
    if as_json:
        documents = [{"id": d.id, "title": d.title} for d in cluster.documents]
        print_json(summary.to_dict() | {"documents": documents})
    else:
        click.echo(summary.text)
    if explain:
        say(str(summary.explain()))


def read_cluster(files: tuple[str, ...], encoding: str | None) -> Cluster:
    """The files, or standard input, as one cluster."""
    if files != ("-",):
        if "-" in files:
            raise ValueError("Give either files or - for standard input, not both.")
        return Cluster.from_files(list(files), encoding=encoding)
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if not data:
        raise ValueError("Standard input is empty: there is nothing to summarize.")
    name = "Standard input"
    return Cluster(parse_document(read_all(BytesIO(data), name), "stdin.txt", name, encoding))


def with_unit(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a summary; a budget without a unit is in words."""
    unit = "words" if settings["unit"] is None and settings["budget"] is not None else settings["unit"]
    return settings | {"unit": unit}


@click.command(name="batch", cls=Command)
@click.argument("corpus", type=CORPUS)
@click.option("--out", type=FILE, required=True, help="JSON Lines file to write.")
@click.option("--explain", is_flag=True, help="Also write the places of the sentences and the reasons.")
@options.summary_options
@options.JOBS
@options.SCHEDULER
def batch_command(corpus: Path, out: Path, scheduler: str | None, jobs: int, **settings: Any) -> None:
    """Summarize every cluster of CORPUS, and write a line of JSON for each, in the order of the corpus.

    A cluster that cannot be read or summarized gets a line with an "error", and the exit code is then 1. If the run is
    stopped, give the same command again, and it goes on from there.
    """
    check_out(out)
    Summarizer.load(settings["model"])  # raises now if the model is wrong
    clusters = open_corpus(corpus, skip_bad=True)
    settings = with_unit(settings) | {"work": work_beside(out), "anew": True, "n_jobs": jobs}
    with bars() as progress, scheduler_client(scheduler) as backend:
        result = summarize_corpus(clusters, out, backend=backend, progress=progress, **settings)
    if not result.failed:
        say(f"Wrote {result.done} summaries to {out}.")
        return
    first = "; ".join(f"{name}: {why}" if name else why for name, why in result.failed[:3])
    failed, total = len(result.failed), result.done + len(result.failed)
    say(f'Wrote {result.done} summaries of {total} clusters to {out}; {failed} failed (lines with "error"): {first}')
    raise click.exceptions.Exit(1)


@click.command(name="train", cls=Command)
@click.argument("corpus", type=CORPUS)
@click.option("--out", type=FILE, required=True, help="Model file to write.")
@options.length_options
@options.SKIP_BAD
@options.LANGUAGE
@options.DECODER(default="consensus", show_default=True, help=f"{options.DECODER_NAMES}.")
@options.JOBS
@options.SCHEDULER
def train_command(corpus: Path, out: Path, skip_bad: bool, jobs: int, scheduler: str | None, **settings: Any) -> None:
    """Train a summarizer on CORPUS and write it to a model file.

    CORPUS is a JSON Lines file (perhaps packed), a pattern such as "news/*.jsonl.gz", a folder with one sub-folder per
    cluster, or a folder in the DUC layout. It is read piece by piece, so it may be larger than memory. If the run is
    stopped, give the same command again, and it goes on from there.
    """
    check_out(out)
    summarizer = Summarizer(**settings)
    only = summarizer.settings.language if settings["language"] else None
    clusters, work = open_corpus(corpus, skip_bad=skip_bad, language=only, usable=skip_bad), work_beside(out)
    with bars() as progress, scheduler_client(scheduler) as backend:
        summarizer.fit(clusters, n_jobs=jobs, backend=backend, progress=progress, work=work, anew=True, out=out)
    done = summarizer.training_
    say(f"Read {done['clusters']} clusters from {corpus}.")
    say(
        f"Learned {summarizer.theta_.size} weights from {done['sentences']} sentences of {done['documents']} "
        f"documents (rho {summarizer.rho_:g}, prior variance {done['prior_variance']:g}). Wrote {out}."
    )


@contextmanager
def scheduler_client(address: str | None) -> Iterator[Any]:
    """A client of the Dask cluster at an address, closed after the block; None without an address."""
    if address is None:
        yield None
        return
    try:
        client = import_distributed().Client(address, timeout=20)
    except (OSError, ValueError) as error:
        advice = "Start one with `dask scheduler`, or leave --scheduler out to work on this machine."
        raise ConnectionError(f"Cannot reach a Dask scheduler at {address}: {error}. {advice}") from None
    with client:
        yield client
