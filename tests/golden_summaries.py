"""The inputs of tests/summarize/inputs, summarized as a user does it, and the page that keeps what came out.

A summary is kept as its sentences, not its scores: those differ in the last digits from one machine to the next.
"""

import re
import shlex
import tomllib
import warnings
from pathlib import Path

from click.testing import CliRunner

from dpplearn.cli import main
from office_files import docx, epub
from pdf_files import pdf_article

FOLDER = Path(__file__).parent / "summarize" / "inputs"
PAGE = FOLDER / "summaries.md"
ABOUT = """# Summaries of the inputs beside this file

One line for each sentence, as `dpplearn summarize` prints them with the model that comes with it. Written by
`python scripts/golden.py`: run it after a change that changes summaries, and read what it changed.
"""


def specs():
    """What each input is held to, by name."""
    return tomllib.loads((FOLDER / "specs.toml").read_text("utf-8"))


def source(name):
    """The folder or file that an input is made of."""
    given = FOLDER / name
    return given if given.exists() else FOLDER / f"{name}.md"


def input_path(name, folder):
    """The input as a user has it: as it lies here, or made from its source in the given folder."""
    if source(name).name == name:
        return source(name)
    path = folder / name
    if not path.exists():
        path.write_bytes(MAKERS[path.suffix](blocks(source(name).read_text("utf-8"))))
    return path


def blocks(text):
    """A source as (kind, text) for `office_files` and `pdf_files`."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        for line in paragraph.split("\n"):
            marks = re.match(r"(#+|-) ", line)
            if line.startswith("|"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                found += [] if set("".join(cells)) == {"-"} else [("row", cells)]
            elif marks:
                kind = {"#": "title", "##": "heading", "###": "subheading", "-": "item"}[marks[1]]
                found.append((kind, line[marks.end() :]))
            else:
                found.append(("caption" if re.match(r"(Table|Figure) \d", line) else "paragraph", line))
    return found


def two_columns(given):
    """A paper: title, authors and abstract across the page, the rest in two columns with headers and page numbers."""
    start = given.index(("heading", "Abstract"))
    authors = " ".join(text for _, text in given[1:start])
    return pdf_article(
        given[start + 2 :], title=given[0][1], authors=authors, abstract=given[start + 1][1], columns=2,
        header="Proceedings of the Workshop on Urban Climate", footer="Preprint, under review",
    )  # fmt: skip


MAKERS = {
    ".pdf": two_columns,
    ".docx": lambda given: docx(given, title=given[0][1]),
    ".epub": lambda given: epub({"chapter.xhtml": given}, title="Clocks and other animals"),
}


def summarize(path, options):
    """The lines that `dpplearn summarize` prints."""
    with warnings.catch_warnings():  # on standard error, as that of a text that is not English
        warnings.simplefilter("always")
        done = CliRunner().invoke(main, ["summarize", str(path), *shlex.split(options)])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def heading(name, options):
    return f"`dpplearn summarize {name}{options and ' '}{options}`"


def page(summaries):
    """The page of {(name, options): lines}."""
    parts, last = [ABOUT], None
    for (name, options), lines in summaries.items():
        parts += [f"\n## {name}\n"] if name != last else []
        parts += [f"\n{heading(name, options)}\n\n", *(f"- {line}\n" for line in lines)]
        last = name
    return "".join(parts)


def kept():
    """The lines of each summary on the page, by its command."""
    found = {}
    for line in PAGE.read_text("utf-8").split("\n") if PAGE.exists() else ():
        if line.startswith("`dpplearn "):
            lines = found[line] = []
        elif line.startswith("- "):
            lines.append(line[2:])
    return found
