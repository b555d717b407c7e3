"""dpplearn summarize: documents in, a summary of their own sentences out."""

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpplearn.cli import check_out, print_json, say
from dpplearn.cli.options import ENCODING, FILE, Command, named_encoder, summary_options, unit_of

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster


@click.command(name="summarize", cls=Command)
@click.argument("files", nargs=-1, required=True)
@summary_options
@click.option("--explain", is_flag=True, help="Say why, on standard error.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary and its reasons as JSON.")
@click.option("--html", type=FILE, help="Also write a page with the sources marked.")
@ENCODING
def command(
    files: tuple[str, ...], explain: bool, as_json: bool, html: Path | None, encoding: str | None, **options: Any
) -> None:
    """Print a summary of FILES, which together are one cluster of documents on one topic.

    FILES are text, Markdown, HTML, newswire, subtitles (.srt, .vtt), PDF, Word (.docx), OpenDocument (.odt), EPUB, RTF
    or e-mail (.eml, .mbox) files, or a folder of them, or - for standard input. Those that cannot be read are named,
    and the others go on. The summary goes to standard output, one sentence per line; everything else to standard error.
    """
    from dpplearn.summarize.summarizer import Summarizer

    check_out(html, "--html")
    cluster = read(files, encoding)
    summarizer = Summarizer.load(options.pop("model"), encoder=named_encoder(options.pop("encoder")))
    summary = summarizer.summarize(cluster, **options | {"unit": unit_of(**options)})
    if html is not None:
        from dpplearn._io.atomic import replace_file
        from dpplearn.summarize.explain.report import html_report

        with replace_file(html, "w") as file:
            file.write(html_report(summary))
        say(f"Wrote {html}.")
    if summary.note:
        say(summary.note)
    if as_json:
        data = summary.to_dict()
        data["documents"] = [{"id": d.id, "title": d.title} for d in cluster.documents]
        print_json(data)
    else:
        click.echo(summary.text)
    if explain:
        say(str(summary.explain()))


def read(files: tuple[str, ...], encoding: str | None) -> "Cluster":
    """The files, or standard input, as one cluster."""
    from dpplearn._io.encoding import MAX_BYTES, read_all
    from dpplearn.summarize.corpora.cluster import Cluster
    from dpplearn.summarize.corpora.documents import parse_document

    if files != ("-",):
        if "-" in files:
            raise ValueError("Give either files or - for standard input, not both.")
        return Cluster.from_files(list(files), encoding=encoding)
    given = sys.stdin.buffer.read(MAX_BYTES + 1)
    if not given:
        raise ValueError("Standard input is empty: there is nothing to summarize.")
    name = "Standard input"
    return Cluster(parse_document(read_all(BytesIO(given), name), "stdin.txt", name, encoding))
