"""Make one cluster of what people give to be summarized: texts, paths, bytes, documents, or several of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from glob import has_magic
from os import PathLike
from typing import Any, TypeAlias

from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.documents import (
    PAGE,
    html_document,
    markdown_document,
    parse_document,
    read_files,
    refuse_address,
    suffixes,
)
from dpplearn.summarize.corpora.formats.hyphens import unwrapped
from dpplearn.summarize.text.markdown import is_markdown

One: TypeAlias = str | PathLike[str] | bytes | Document
Given: TypeAlias = Cluster | One | Iterable[One]
GIVABLE = "a text, a path, bytes, several of these in a list, or a Cluster"
LONGEST_PATH = 4_096  # characters
ELSEWHERE = (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".doc")
ADVICE = {"dict": " For texts by name, pass list(given.values()).", "set": " A set has no order: pass a list."}


def as_cluster(given: Given, *, encoding: str | None = None, language: str | None = None) -> Cluster:
    """One cluster of what is given.

    Parameters
    ----------
    given : Cluster, str, path, bytes, Document, or an iterable of these
        A string is a path where a file or folder of that name exists, and a text otherwise. One line that reads like
        a path (it ends like a document's name or with /, or begins with / or ./) where there is no such file is an
        error, and so is an address on the web: nothing is downloaded. Bytes are the content of a file.
    encoding, language : str, optional
        Of files and bytes; of the texts.

    Examples
    --------
    >>> as_cluster(["It rained. The river rose.", b"<html><p>It poured."]).documents[1].text
    'It poured.'
    >>> as_cluster("storm.txt")
    Traceback (most recent call last):
    ...
    FileNotFoundError: storm.txt does not exist. If it is a text and no path, pass Cluster.from_texts([text]).
    """
    if isinstance(given, Cluster):
        return given if language is None else replace(given, language=language)
    one = isinstance(given, str | PathLike | bytes | bytearray | memoryview | Document)
    if not one and (isinstance(given, Mapping | Set) or hasattr(given, "read") or not isinstance(given, Iterable)):
        kind = "None" if given is None else type(given).__name__
        advice = " Pass what its read() returns." if hasattr(given, "read") else ADVICE.get(kind, "")
        raise TypeError(f"What is to be summarized must be {GIVABLE}; found {kind}.{advice}")
    members: list[Any] = [given] if one else list(given)  # type: ignore[arg-type]  # one is no list
    if not members:
        raise ValueError(f"There is nothing to summarize: the list is empty. Expected {GIVABLE}.")
    if all(map(is_path, members)):
        return Cluster(read_files(members, encoding), (), None, language)
    documents = [document for number, one in enumerate(members, 1) for document in documents_of(one, number, encoding)]
    if not any(document.text.strip() for document in documents):
        raise ValueError("There is nothing to summarize: the text is empty.")
    return Cluster(unlike(documents), (), None, language)


def is_path(one: Any) -> bool:
    """Whether this is a path to something; an error where it only looks like one."""
    if isinstance(one, PathLike):
        return True
    if not isinstance(one, str) or not 0 < len(one) <= LONGEST_PATH or "\n" in one.strip() or "\0" in one:
        return False
    if os.path.exists(one):  # of a name that no file can have, too: False
        return True
    refuse_address(one)
    bare = one.strip()
    spaced, named = any(map(str.isspace, bare)), bare.lower().endswith((*suffixes(), *ELSEWHERE))
    if has_magic(bare) and named and not spaced:
        return True  # a pattern, such as storm/*.txt
    rooted = (bare.startswith(("/", "./", "../", "~/", ".\\", "..\\")) or bare.endswith(("/", "\\"))) and not spaced
    word = bare.isascii() and not spaced and bare[-1:].isalnum()  # one word is no text
    if rooted or word or (named and len(bare.split()) <= 8):
        raise FileNotFoundError(f"{bare} does not exist. If it is a text and no path, pass Cluster.from_texts([text]).")
    return False


def documents_of(one: Any, number: int, encoding: str | None) -> list[Document]:
    """The documents of one member of a list; texts are called by their number."""
    if isinstance(one, Document):
        return [one]
    if isinstance(one, bytes | bytearray | memoryview):
        return parse_document(bytes(one), f"{number}.txt", f"item {number}", encoding)
    if isinstance(one, Cluster):
        raise TypeError("Found a list with a Cluster in it: summarize each by itself.")
    if is_path(one):
        return read_files([one], encoding)
    if not isinstance(one, str):
        kind = "None" if one is None else type(one).__name__
        raise TypeError(f"What is to be summarized must be {GIVABLE}; item {number} of the list is {kind}.")
    if PAGE.match(one):
        return [html_document(str(number), one)]
    return [markdown_document(str(number), one) if is_markdown(one) else Document(str(number), unwrapped(one))]


def unlike(documents: list[Document]) -> list[Document]:
    """Documents whose ids differ: a second one of the same name gets a number."""
    seen: dict[str, int] = {}  # each name, and the number of the latest that was called after it
    renamed = []
    for document in documents:
        name, count = document.id, seen.get(document.id, 1)
        while name in seen:
            count += 1
            name = f"{document.id} ({count})"
        seen |= {document.id: count, name: 1}
        renamed.append(replace(document, id=name))
    return renamed
