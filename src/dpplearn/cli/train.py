"""dpplearn train: clusters with reference summaries in, a model file out."""

from pathlib import Path
from typing import Any

import click

from dpplearn.cli import check_out, say
from dpplearn.cli.bars import bars
from dpplearn.cli.options import (
    BACKEND,
    CORPUS,
    DECODERS_HELP,
    ENCODING,
    FILE,
    SCHEDULER,
    SKIP_BAD,
    DecoderName,
    features_option,
    learning_options,
    named_encoder,
)


@click.command(name="train")
@click.argument("corpus", type=CORPUS)
@click.option("--out", type=FILE, required=True, help="Model file to write.")
@features_option("general")
@learning_options
@click.option("--decoder", type=DecoderName(), default="consensus", show_default=True, help=f"{DECODERS_HELP}.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes; -1 for all cores.")
@BACKEND
@SCHEDULER
@click.option(
    "--work", type=FILE, help="Folder for what is made on the way; a run that was stopped goes on.  [default: OUT.work]"
)
@click.option("--evaluator", default="numpy", show_default=True, help="How instances are evaluated.")
@ENCODING
@SKIP_BAD
def command(
    corpus: Path,
    out: Path,
    tune: bool,
    language: str | None,
    jobs: int,
    backend: str | None,
    scheduler: str | None,
    work: Path | None,
    evaluator: str,
    encoding: str | None,
    skip_bad: bool,
    encoder: str | None,
    **settings: Any,
) -> None:
    """Train a summarizer on CORPUS and write it to a model file.

    CORPUS is a JSON Lines file (perhaps packed), a Parquet file, a pattern such as "news/*.jsonl.gz", a folder with one
    sub-folder per cluster, or a folder in the DUC layout. It is read piece by piece: memory does not grow with it. A
    run that was stopped goes on when the same command is run again.
    """
    from dpplearn._run.workers import scheduler_client
    from dpplearn.learning.backends import make_evaluator
    from dpplearn.summarize.corpora.reading import open_corpus
    from dpplearn.summarize.summarizer import Summarizer

    check_out(out)
    make_evaluator(evaluator)  # an unknown name is told before any work
    summarizer = Summarizer(language=language, encoder=named_encoder(encoder), **settings)
    clusters = open_corpus(
        corpus, encoding, skip_bad, language=summarizer.settings.language if language else None, usable=skip_bad
    )
    own = work is None and (out.is_file() or not out.exists())  # no device
    work = out.with_name(f"{out.name}.work") if own else work
    with bars() as show, scheduler_client(scheduler, backend) as where:
        options: dict[str, Any] = {"tune": tune, "n_jobs": jobs, "backend": where, "evaluator": evaluator}
        summarizer.fit(clusters, verbose=show, work=work, anew=own, out=out, **options)
    done = summarizer.training_
    say(f"Read {done['clusters']} clusters from {corpus}.")
    say(
        f"Learned {summarizer.theta_.size} weights from {done['sentences']} sentences of {done['documents']} "
        f"documents (rho {summarizer.rho_:g}, prior variance {done['prior_variance']:g}). Wrote {out}."
    )
