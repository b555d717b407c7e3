"""Builds the table of irregular forms that ROUGE looks up before it stems.

It reads the exception lists of WordNet 3.0 (adj.exc, adv.exc, noun.exc, verb.exc) and writes the table that
dpplearn.rouge ships:

    python scripts/build_exceptions.py FOLDER_WITH_EXC_FILES

On Debian the lists come with the package wordnet-base (`dpkg -L wordnet-base` says where).
"""

import argparse
import gzip
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "src" / "dpplearn" / "rouge" / "data" / "exceptions.txt.gz"
# The order matters: a later line replaces an earlier one (best: good, then better, then well).
LISTS = ("adj", "adv", "noun", "verb")
# Forms of WordNet 3.0 that the table of ROUGE-1.5.5 lacks, because it was made from an earlier release.
NOT_IN_ROUGE = {"ashes", "cognosenti", "halfpence", "lisente", "morses", "staretsy"}
# ROUGE-1.5.5 has 5,930 keys. The other forms that it lacks have at most three letters, and such tokens are never
# looked up.
SIZE = 5934


def read_exceptions(folder: Path) -> dict[str, str]:
    """The lemma of each irregular form, from the first two fields of every line."""
    table = {}
    for name in LISTS:
        for line in (folder / f"{name}.exc").read_text(encoding="ascii").splitlines():
            form, lemma = line.split()[:2]
            table[form] = lemma
    return {form: lemma for form, lemma in table.items() if form not in NOT_IN_ROUGE}


def main() -> None:
    """Write the table, or stop if the lists are not those of WordNet 3.0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder that holds WordNet's .exc files")
    table = read_exceptions(parser.parse_args().folder)
    if len(table) != SIZE:
        parser.error(f"expected {SIZE:,} forms as in WordNet 3.0, found {len(table):,}; use release 3.0")
    lines = "".join(f"{form} {lemma}\n" for form, lemma in sorted(table.items()))
    with TABLE.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(lines.encode("ascii"))
    print(f"{len(table):,} forms, {TABLE.stat().st_size:,} bytes: {TABLE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
