"""dpplearn batch: a corpus in, a line with a summary of each of its clusters out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpplearn.cli import check_out, say
from dpplearn.cli.bars import bars
from dpplearn.cli.options import (
    BACKEND,
    CORPUS,
    ENCODER,
    ENCODING,
    FILE,
    MODEL,
    SCHEDULER,
    named_encoder,
    summary_options,
)


@click.command(name="batch")
@click.argument("corpus", type=CORPUS)
@click.option("--out", type=FILE, required=True, help="JSON Lines file to write.")
@summary_options
@MODEL
@ENCODER
@click.option("--explain", is_flag=True, help="With the sentences' places and the reasons.")
@click.option("--split", help="Only clusters of this part of the corpus, such as test.")
@click.option("--language", help="Only clusters in this language.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for all cores.")
@BACKEND
@SCHEDULER
@click.option(
    "--work", type=FILE, help="Folder for what is made on the way; a run that was stopped goes on.  [default: OUT.work]"
)
@ENCODING
def command(
    corpus: Path,
    out: Path,
    model: Path | None,
    encoder: str | None,
    explain: bool,
    split: str | None,
    language: str | None,
    jobs: int,
    backend: str | None,
    scheduler: str | None,
    work: Path | None,
    encoding: str | None,
    unit: str | None,
    **options: Any,
) -> None:
    """Summarize every cluster of CORPUS, a line of JSON for each, in the corpus's order.

    A cluster that cannot be read or summarized is a line with an "error", and the others go on; the exit code is then
    1. A run that was stopped goes on when the same command is run again.
    """
    from dpplearn._run.workers import scheduler_client
    from dpplearn.summarize.batch import summarize_corpus
    from dpplearn.summarize.corpora.reading import open_corpus
    from dpplearn.summarize.summarizer import Summarizer

    check_out(out)
    Summarizer.load(model, encoder=named_encoder(encoder))  # what is wrong with it is told before any work
    options["unit"] = "words" if unit is None and options["budget"] is not None else unit
    clusters = open_corpus(corpus, encoding, skip_bad=True, split=split, language=language)
    own = work is None and (out.is_file() or not out.exists())  # no device
    work = out.with_name(f"{out.name}.work") if own else work
    given: dict[str, Any] = {
        "model": model,
        "encoder": encoder,
        "explain": explain,
        "work": work,
        "anew": own,
        "n_jobs": jobs,
    }
    with bars() as show, scheduler_client(scheduler, backend) as where:
        found = summarize_corpus(clusters, out, backend=where, verbose=show, **given, **options)
    total = found.done + len(found.failed)
    if not found.failed:
        say(f"Wrote {found.done} summaries to {out}.")
        return
    some = "; ".join(f"{name}: {why}" if name else why for name, why in found.failed[:3])
    more = f"; and {len(found.failed) - 3} more" if len(found.failed) > 3 else ""
    say(
        f"Wrote {found.done} summaries of {total} clusters to {out}; {len(found.failed)} failed, and are lines with "
        f'"error": {some}{more}'
    )
    raise click.exceptions.Exit(1)
