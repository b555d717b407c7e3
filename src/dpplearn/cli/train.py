"""dpplearn train: clusters with reference summaries in, a model file out."""

from pathlib import Path
from typing import Any

import click

from dpplearn.cli import check_out, first_run_notice, say
from dpplearn.cli.bars import bars
from dpplearn.cli.corpus import read_corpus
from dpplearn.cli.options import (
    DECODERS_HELP,
    ENCODING,
    FILE,
    PATH,
    SKIP_BAD,
    DecoderName,
    learning_options,
    named_encoder,
)


@click.command(name="train")
@click.argument("corpus", type=PATH)
@click.option("--out", type=FILE, required=True, help="Model file to write.")
@learning_options
@click.option("--decoder", type=DecoderName(), default="consensus", show_default=True, help=f"{DECODERS_HELP}.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes; -1 for all cores.")
@click.option("--backend", type=click.Choice(["serial", "processes", "dask"]), help="[default: by --jobs]")
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
    evaluator: str,
    encoding: str | None,
    skip_bad: bool,
    encoder: str | None,
    **settings: Any,
) -> None:
    """Train a summarizer on CORPUS and write it to a model file.

    CORPUS is a JSON Lines file, a folder with one sub-folder per cluster, or a folder in the DUC layout.
    """
    from dpplearn.learning.evaluators import make_evaluator
    from dpplearn.summarize.summarizer import Summarizer

    with first_run_notice():
        check_out(out)
        make_evaluator(evaluator)  # an unknown name is told before any work
        summarizer = Summarizer(language=language, encoder=named_encoder(encoder), **settings)
        clusters = read_corpus(corpus, encoding, skip_bad, language=summarizer.settings.language)
        say(f"Read {len(clusters)} clusters from {corpus}.")
        with bars() as show:
            summarizer.fit(clusters, tune=tune, n_jobs=jobs, backend=backend, evaluator=evaluator, verbose=show)
        summarizer.save(out)
    done = summarizer.training_
    what = "values of trees" if summarizer.quality == "boosted" else "weights"
    similarity = f"rho {summarizer.rho_:g}"
    if summarizer.similarity != "fixed":
        similarity = f"similarity {summarizer.similarity}"
    say(
        f"Learned {summarizer.learned_.size} {what} from {done['sentences']} sentences of {done['documents']} "
        f"documents ({similarity}, prior variance {done['prior_variance']:g}). Wrote {out}."
    )
