"""dpplearn train: clusters with reference summaries in, a model file out."""

from pathlib import Path
from typing import Any

import click

from dpplearn.cli import check_out, options, say, work_beside
from dpplearn.cli.bars import bars
from dpplearn.cli.options import CORPUS, FILE, named_encoder


@click.command(name="train", cls=options.Command)
@click.argument("corpus", type=CORPUS)
@click.option("--out", type=FILE, required=True, help="Model file to write.")
@options.length_options
@click.option("--tune", is_flag=True, help="Choose rho and the prior variance on held-out ROUGE-1 F.")
@options.SKIP_BAD
@options.LANGUAGE
@options.DECODER(default="consensus", show_default=True, help=f"{options.DECODER_NAMES}.")
@options.ENCODER
@options.JOBS
@options.SCHEDULER
def command(
    corpus: Path, out: Path, tune: bool, skip_bad: bool, jobs: int, scheduler: str | None, **settings: Any
) -> None:
    """Train a summarizer on CORPUS and write it to a model file.

    CORPUS is a JSON Lines file (perhaps packed), a Parquet file, a pattern such as "news/*.jsonl.gz", a folder with one
    sub-folder per cluster, or a folder in the DUC layout. It is read piece by piece: memory does not grow with it. A
    run that was stopped goes on when the same command is run again.
    """
    from dpplearn._run.workers import scheduler_client
    from dpplearn.summarize.corpora.reading import open_corpus
    from dpplearn.summarize.summarizer import Summarizer

    check_out(out)
    summarizer = Summarizer(**settings | {"encoder": named_encoder(settings["encoder"])})
    only = summarizer.settings.language if settings["language"] else None
    clusters, work = open_corpus(corpus, skip_bad=skip_bad, language=only, usable=skip_bad), work_beside(out)
    with bars() as show, scheduler_client(scheduler) as where:
        summarizer.fit(clusters, tune=tune, n_jobs=jobs, backend=where, verbose=show, work=work, anew=True, out=out)
    done = summarizer.training_
    say(f"Read {done['clusters']} clusters from {corpus}.")
    say(
        f"Learned {summarizer.theta_.size} weights from {done['sentences']} sentences of {done['documents']} "
        f"documents (rho {summarizer.rho_:g}, prior variance {done['prior_variance']:g}). Wrote {out}."
    )
