"""What the examples share: the option `--save FILE`, checked before anything is computed."""

import argparse
from pathlib import Path

FORMATS = (".png", ".pdf", ".svg")


def read_options(about, **numbers):
    """The options of an example as keywords of its `main`: where to save, and whole numbers with their defaults.

    >>> read_options("Draws.", repeats=10)  # as run without options
    {'save': None, 'repeats': 10}
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the picture to FILE (png, pdf or svg)")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default: {default}")
    found = parser.parse_args()
    if found.save and not found.save.parent.is_dir():
        parser.error(f"the folder {found.save.parent} does not exist; make it, or give another --save")
    if found.save and found.save.suffix not in FORMATS:
        parser.error(f"--save must end in {', '.join(FORMATS)}, found {found.save.name}")
    for name in numbers:
        if getattr(found, name) < 1:
            parser.error(f"--{name} must be 1 or more, found {getattr(found, name)}")
    return vars(found)
