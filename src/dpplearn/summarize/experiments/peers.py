"""Other systems' summaries, to be scored in the same table."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from pathlib import Path

from dpplearn._io.encoding import entries
from dpplearn.rouge.candidates import add, read_candidates, read_text
from dpplearn.rouge.reading import Text

# A peer's summary as DUC names it: D30001.M.100.T.65 is that of peer 65.
_DUC = re.compile(r"(?P<topic>.+)\.M\.\d+\.[A-Z]\.(?P<peer>[A-Za-z0-9]+)", re.IGNORECASE)


def read_peers(path: Path, ids: Collection[str], *, required: bool = True) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster, of the clusters asked for.

    Parameters
    ----------
    path : Path
        A JSON Lines file of `{"id", "system", "summary"}`; or a folder with such a file for each system (named after
        it, if its lines do not say), with a folder SYSTEM/ID.txt for each, or with DUC's files `D30001.M.100.T.65`.
    ids : collection of str
        Ids of the clusters, matched in any case. Others are left out; a peer that lacks some is scored on what it has,
        with a warning.
    required : bool
        Whether a cluster without a summary is worth a word, and none at all an error.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Give a folder of summaries or a JSON Lines file.")
    given = read_peer_folder(path) if path.is_dir() else read_candidates(path)
    names = {name.lower(): name for name in ids}
    found: dict[str, dict[str, str]] = {}
    for system, texts in given.items():
        for topic, text in texts.items():
            if topic.lower() in names:
                whole = text if isinstance(text, str) else "\n".join(map(str, text))
                found.setdefault(system, {})[names[topic.lower()]] = whole
    if not required:
        return found
    if not found:
        example = next(iter(next(iter(given.values()))))
        raise ValueError(
            f"No id in {path} is that of a cluster: found, for example, {example!r} there and {min(ids)!r} here."
        )
    for system, summaries in found.items():
        lacking = sorted(set(ids) - set(summaries))
        if lacking:
            some = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            warnings.warn(f"Peer {system} has no summary of {len(lacking)} clusters: {some}.", stacklevel=2)
    return found


def read_peer_folder(folder: Path) -> dict[str, dict[str, Text]]:
    """A folder with one JSON Lines file per system, files as DUC names them, or folders of text files."""
    files = [entry for entry in entries(folder) if entry.is_file()]
    lines = [file for file in files if file.suffix in (".jsonl", ".ndjson")]
    named = [(file, match) for file in files if (match := _DUC.fullmatch(file.name))]
    if lines:
        whole = ((file, system, texts) for file in lines for system, texts in read_candidates(file).items())
        given = [(system, topic, text, file) for file, system, texts in whole for topic, text in texts.items()]
    elif named:
        given = [(match["peer"], match["topic"], read_text(file), file) for file, match in named]
    else:
        return read_candidates(folder)
    found: dict[str, dict[str, Text]] = {}
    for system, topic, text, file in given:
        add(found.setdefault(system, {}), topic, text, file)
    return found
