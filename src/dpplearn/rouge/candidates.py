"""Reads candidates and references from folders of text files and from JSON Lines, for `dpplearn rouge`."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from dpplearn._checks import describe
from dpplearn._io.encoding import decode, entries, read_bytes
from dpplearn._io.jsonfile import json_lines
from dpplearn.rouge.reading import Text

Candidates = dict[str, dict[str, Text]]  # system -> topic id -> text
References = dict[str, list[Text]]  # topic id -> texts
ADVICE = "Give a folder of text files or JSON Lines, one object on each line."


def read_candidates(path: Path) -> Candidates:
    """Read the texts of systems.

    The path is a folder with a file ID.txt for each topic (one system, with the folder's name) or with such a folder
    for each system. Or it is a JSON Lines file with "id", "summary" and, if there are several systems, "system". Only
    .txt is removed from the name of a file, so that d1.md is the topic "d1.md".
    """
    systems: Candidates = {}
    if path.is_dir():
        folders = [entry for entry in entries(path) if entry.is_dir()]
        if folders and len(folders) < len(entries(path)):
            both = f"the folder {folders[0].name} and files"
            raise ValueError(f"{path} must hold a file for each topic, or a folder for each system, not {both}.")
        for folder in folders or [path]:
            files = by_topic(folder)
            if not files:
                raise ValueError(f"{folder} must hold a text file for each topic, but holds none.")
            systems[folder.resolve().name] = {topic: read_text(file) for topic, file in files.items()}
    else:
        for where, _, record in json_lines(path, path, ADVICE):
            system = path.stem if record.get("system") is None else str(record["system"])
            if "summary" not in record:
                raise ValueError(f'{where} must have the field "summary", but has {", ".join(record) or "none"}.')
            text = check_text(record["summary"], '"summary"', where)
            add(systems.setdefault(system, {}), topic_in(record, where), text, where)
    if not systems:
        raise ValueError(f"{path} holds no candidate. It must be a folder of text files or a JSON Lines file.")
    return systems


def read_references(path: Path, topics: Collection[str] = ()) -> References:
    """Read the references of each topic.

    The path is a folder with files ID.txt or ID.LABEL.txt, or with a folder for each topic. Or it is a JSON Lines file
    with "id" and "references", such as a corpus of dpplearn. A file belongs to the longest of `topics` that its name
    begins with, up to a dot: D30001.M.100.T.A is a reference of D30001. Other files are topics of their own.
    """
    references: References = {}
    if path.is_dir():
        for entry in entries(path):
            if entry.is_dir():
                references[entry.name] = [read_text(file) for file in entries(entry) if file.is_file()]
        for name, file in by_topic(path).items():
            references.setdefault(prefix_in(name, topics), []).append(read_text(file))
    else:
        for where, _, record in json_lines(path, path, ADVICE):
            given = record.get("references")
            if not isinstance(given, list):
                raise ValueError(f'{where}: "references" must be a list of texts, but is {describe(given)}.')
            add(references, topic_in(record, where), [check_text(text, "a reference", where) for text in given], where)
    if not references:
        raise ValueError(f"{path} holds no reference. It must be a folder of text files or a JSON Lines file.")
    if empty := [topic for topic, texts in references.items() if not texts]:
        raise ValueError(f"{empty[0]!r} in {path} has no reference. Add one, or remove the topic.")
    return references


def by_topic(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their names without .txt."""
    files: dict[str, Path] = {}
    for file in entries(folder):
        if file.is_file():
            add(files, file.name.removesuffix(".txt"), file, file)
    return files


def prefix_in(name: str, topics: Collection[str]) -> str:
    """Return the longest topic that the name begins with, up to a dot or its end, or else the name."""
    parts = name.split(".")
    heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((head for head in heads if head in topics), name)


def read_text(file: Path) -> str:
    """Return the text of a file in UTF-8 with unchanged line ends; an error names a byte that cannot be read."""
    return decode(read_bytes(file), file, "utf-8")


def topic_in(record: dict[str, Any], where: str) -> str:
    if not isinstance(record.get("id"), str | int):
        raise ValueError(f'{where} must have an "id", a string or a number, but has {describe(record.get("id"))}.')
    return str(record["id"])


def check_text(text: Any, name: str, where: str) -> Any:
    sentences = [text] if isinstance(text, str) else text
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise ValueError(f"{where}: {name} must be a string or a list of sentences, but is {describe(text)}.")
    return text


def add(topics: dict[str, Any], topic: str, value: Any, where: object) -> None:
    """Store a topic, which must be new."""
    if topic in topics:
        raise ValueError(f"{where}: the id {topic!r} occurs a second time. Each id may occur once; rename one.")
    topics[topic] = value
