"""dpplearn batch: a corpus in, a line with a summary of each of its clusters out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpplearn.cli import check_out, say, work_beside
from dpplearn.cli.bars import bars
from dpplearn.cli.options import CORPUS, FILE, JOBS, SCHEDULER, Command, named_encoder, summary_options, unit_of


@click.command(name="batch", cls=Command)
@click.argument("corpus", type=CORPUS)
@click.option("--out", type=FILE, required=True, help="JSON Lines file to write.")
@click.option("--explain", is_flag=True, help="With the sentences' places and the reasons.")
@summary_options
@JOBS
@SCHEDULER
def command(corpus: Path, out: Path, scheduler: str | None, jobs: int, **options: Any) -> None:
    """Summarize every cluster of CORPUS, a line of JSON for each, in the corpus's order.

    A cluster that cannot be read or summarized is a line with an "error", and the others go on; the exit code is then
    1. A run that was stopped goes on when the same command is run again.
    """
    from dpplearn._run.workers import scheduler_client
    from dpplearn.summarize.batch import summarize_corpus
    from dpplearn.summarize.corpora.reading import open_corpus
    from dpplearn.summarize.summarizer import Summarizer

    check_out(out)
    Summarizer.load(options["model"], encoder=named_encoder(options["encoder"]))  # wrong ones are told before any work
    options["unit"] = unit_of(**options)
    clusters, work = open_corpus(corpus, skip_bad=True), work_beside(out)
    options |= {"work": work, "anew": True, "n_jobs": jobs}
    with bars() as show, scheduler_client(scheduler) as where:
        found = summarize_corpus(clusters, out, backend=where, verbose=show, **options)
    if not found.failed:
        say(f"Wrote {found.done} summaries to {out}.")
        return
    some = "; ".join(f"{name}: {why}" if name else why for name, why in found.failed[:3])
    more = f"; and {len(found.failed) - 3} more" if len(found.failed) > 3 else ""
    say(
        f"Wrote {found.done} summaries of {found.done + len(found.failed)} clusters to {out}; {len(found.failed)} "
        f'failed, and are lines with "error": {some}{more}'
    )
    raise click.exceptions.Exit(1)
