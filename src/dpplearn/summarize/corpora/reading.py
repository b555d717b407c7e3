"""Read corpora: many clusters from files, folders and patterns, when they are asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpplearn._checks import count_of
from dpplearn._io.encoding import entries, read_bytes, to_text, walk
from dpplearn.summarize.corpora.cluster import Cluster, short
from dpplearn.summarize.corpora.documents import (
    MARKDOWN,
    TEXT,
    is_document,
    paths_matching,
    read_paths,
    reads_as_document,
    suffix_of,
    suffixes,
)
from dpplearn.summarize.corpora.jsonl import jsonl_items, looks_like_jsonl, read_line
from dpplearn.summarize.corpora.newswire import looks_like_duc, read_duc
from dpplearn.summarize.corpora.source import CorpusPiece, Item, Source, is_readme, next_items

if TYPE_CHECKING:
    from dpplearn._io.workfolder import WorkFolder
    from dpplearn._run.progress import Progress
    from dpplearn._run.workers import Workers


REFERENCES = "references"
INNER = ("docs", "documents")  # where the documents of a cluster may be


def as_given(_: Source, cluster: Cluster) -> list[tuple[Cluster, None]]:
    """The cluster, where an item is the cluster itself."""
    return [(cluster, None)]


class Reader(NamedTuple):
    """A format of corpora: its name in messages, which paths look like it, its items, and how a worker reads one.

    Where the items are the clusters themselves, what may be skipped stands in `with source.tolerate()`.
    """

    name: str
    looks_like: Callable[[Path], bool]
    items: Callable[[Source], Iterable[Item]]
    read: Callable[[Source, Any], Iterable[tuple[Cluster, int | None]]] = as_given


def folder_items(source: Source) -> Iterator[Item]:
    """The folders of clusters in a folder, or the one folder of documents that it is."""
    path, content = source.path, entries(source.path)
    clusters = [entry for entry in content if entry.is_dir() and entry.name not in (REFERENCES, *INNER)]
    loose = [entry for entry in content if is_document(entry) and not is_readme(entry)]
    if loose and any(is_document(entry) for folder in clusters for entry in inside(folder)):
        raise ValueError(
            f"{path} must hold a sub-folder for each cluster or the documents of one, but holds both: the folder "
            f"{clusters[0].name} and the file {loose[0].name}. Move one of the two elsewhere."
        )
    folders = [path] if loose or not clusters else clusters
    return (Item(folder, share=number / len(folders)) for number, folder in enumerate(folders, 1))


def inside(folder: Path) -> list[Path]:
    """What is in a folder and in those for documents in it."""
    places = [folder, *(folder / inner for inner in INNER if (folder / inner).is_dir())]
    return [entry for place in places for entry in entries(place)]


def read_folder(source: Source, folder: Path) -> Iterator[tuple[Cluster, None]]:
    """The cluster of a folder of documents, if it holds any."""
    with source.tolerate():
        content = inside(folder)
        paths = list(filter(reads_as_document, content))
        if documents := read_paths(paths, source):
            source.note_others(content, paths)
            yield Cluster(documents, read_references(folder, source), folder.resolve().name), None


def read_references(folder: Path, source: Source) -> list[str]:
    """The texts in the folder references/, by name, with their lines; files that are no plain text are noted."""
    content = entries(folder / REFERENCES) if (folder / REFERENCES).is_dir() else []
    paths = [path for path in content if path.is_file() and suffix_of(path) in (*TEXT.suffixes, *MARKDOWN.suffixes, "")]
    source.note_others(content, paths)
    return [to_text(read_bytes(path), path, source.encoding, None).strip() for path in paths]


READERS = [  # a new format is one entry; the first that a path looks like reads it
    Reader("a JSON Lines file with one cluster per line", looks_like_jsonl, jsonl_items, read_line),
    Reader("a folder with DUC data", looks_like_duc, lambda source: map(Item, read_duc(source))),
    Reader(
        "a folder with a sub-folder of documents (.txt, .md, .html) per cluster", Path.is_dir, folder_items, read_folder
    ),
]


def kinds() -> str:
    """What can be read, for messages."""
    return f"{', '.join(reader.name for reader in READERS[:-1])}, or {READERS[-1].name}"


class Census:
    """Counts the clusters of a corpus that are used, and checks that a file has each id once."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str], int] = {}
        self.kept = 0

    def see(self, path: Path, line: int | None, name: str | None) -> None:
        """Note the id of another cluster; a ValueError if a line before has the same id."""
        before = None if line is None else self.lines.setdefault((str(path), str(name)), line)
        if line is not None and before != line:
            raise ValueError(
                f'{path}, line {line}, field "id": {name!r} is already the id of line {before}. '
                "Ids of clusters must differ; rename one."
            )


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Clusters of files, read piece by piece each time that somebody asks for them.

    Iterating over it gives the clusters one by one, and only one is in memory; `Summarizer.fit` and the commands take
    it as they take a list. `open_corpus` makes one of files, `corpus_in_memory` one of a list.
    """

    name: Path  # for messages
    sources: Sequence[tuple[Reader, Source]]
    clusters: Sequence[Cluster] = ()  # those in memory
    skip_bad: bool = False

    def __repr__(self) -> str:
        n_clusters, files = len(self.clusters), len(self.sources)
        size = count_of(n_clusters, "cluster", "clusters") if n_clusters else count_of(files, "file", "files")
        return f"<Corpus {short(str(self.name), 80)!r} of {size}>"

    def __iter__(self) -> Iterator[Cluster]:
        """The clusters in order; at the end a `SkippedWarning` says what was left out."""
        return self.each()

    def each(self, stacklevel: int = 3) -> Iterator[Cluster]:
        """The same as iteration; `stacklevel` says which caller the warning names."""
        census, notes = Census(), self.notes()
        for piece in self.pieces(notes):
            fresh = piece.source.fresh()
            for entry in piece.entries(fresh):
                with fresh.tolerate():
                    census.see(fresh.path, entry.line, entry.id)
                    if entry.cluster is not None:
                        census.kept += 1
                        yield entry.cluster
            notes.add(fresh.omissions)
        self.check(census, notes, stacklevel)

    def notes(self) -> Source:
        """Where to note what is left out in one reading."""
        return Source(self.name, skip_bad=self.skip_bad)

    def pieces(self, notes: Source) -> Iterator[CorpusPiece]:
        """Its pieces in order; what a reader leaves out while it looks for items is noted."""
        number = 0
        for k, (reader, source) in enumerate(self.sources):
            fresh = source.fresh()
            found_items = iter(reader.items(fresh))
            while items := next_items(found_items, number):
                share = items[-1].share and (k + items[-1].share) / len(self.sources)
                yield CorpusPiece(number, source, reader.read, [item.content for item in items], share)
                number += 1
            notes.add(fresh.omissions)

    def work_through(
        self,
        what: str,
        stage: str,
        work: Callable[..., int],
        arguments: tuple[Any, ...],
        *,
        folder: WorkFolder,
        workers: Workers,
        progress: Progress,
        size: Callable[[Path], int],
        ending: str = ".json",
    ) -> tuple[list[Path], Source]:
        """Work on all pieces whose files are not in a folder; return the files in order, and what was left out.

        `work` is called with a piece, its file and what is given; it returns how many clusters it did, and `size` tells
        that of a file that is there.
        """
        files, share, done, finished, notes = list[Path](), 0.0, 0, 0, self.notes()

        def tasks() -> Iterator[tuple[CorpusPiece, Path]]:
            nonlocal share, done, finished
            for piece in self.pieces(notes):
                out, share = folder.file(stage, piece.number, ending), piece.share
                files.append(out)
                if out.exists():
                    done, finished = done + size(out), finished + 1
                else:
                    yield piece, out

        for _, n in workers.each(partial(run_compiled, work), tasks(), arguments):
            done, finished = done + n, finished + 1
            # how many there will be, by the share of the files that the pieces so far are
            guess = round(done / finished * len(files) / share) if share else 0
            progress.stage(what, done, max(guess, done))
        progress.stage(what, done, max(done, 1))
        return files, notes

    def check(self, census: Census, notes: Source, stacklevel: int = 3) -> None:
        """Warn of what was left out; an error if nothing else is there."""
        notes.warn(suffixes(), census.kept, stacklevel=stacklevel)
        if census.kept:
            return
        if languages := sorted(set(notes.noted("language"))):
            asked_language = self.sources[0][1].language
            raise ValueError(
                f"No cluster of {self.name} has the language {asked_language!r}. Found {', '.join(languages)}."
            )
        if notes.noted("left"):
            raise ValueError(f"No cluster of {self.name} has both sentences and a reference summary: none is left.")
        readable = " that can be read" if notes.noted("bad") else ""
        raise ValueError(f"{self.name} holds no cluster{readable}. Give {kinds()}.")

    @property
    def identity(self) -> list[Any]:
        """What distinguishes it from others: its files, their sizes and times, and which clusters count."""
        texts, files = sha256(), []
        for cluster in self.clusters:
            texts.update(json.dumps(asdict(cluster), default=str).encode())
        for _, source in () if self.clusters else self.sources:
            places = filter(None, (source.path, source.references))
            options = [source.encoding, source.language, source.usable, source.skip_bad]
            files.append([options, *((str(path.resolve()), state_of(path)) for path in places)])
        return [files, texts.hexdigest()]


def run_compiled(work: Callable[..., int], task: tuple[Any, ...], arguments: tuple[Any, ...]) -> int:
    """Work with compiled loops, so that the digits are the same in every process and whatever was on disk."""
    from dpplearn._numba import compiled_always  # reading alone needs no numba

    with compiled_always():
        return work(*task, *arguments)


def state_of(path: Path) -> str:
    """A digest that changes with the size or the time of a file, or of any file that is read in a folder."""
    files = {path}
    if path.is_dir():  # `walk` follows no links, but folders of clusters may be such
        files = {*walk(path), *(file for depth in ("*", "*/*", "*/*/*") for file in path.glob(depth) if file.is_file())}
    stats = ((file.relative_to(path).as_posix(), file.stat()) for file in sorted(files))
    states = [(name, at.st_size, at.st_mtime_ns) for name, at in stats if not re.search(r"(^|/)\.[^/]", name)]
    return sha256(json.dumps(states).encode()).hexdigest()


def corpus_in_memory(clusters: Iterable[Cluster]) -> Corpus:
    """A corpus of clusters that are in memory."""
    in_memory, name = [*clusters], Path("the list")
    items = [Item(cluster, share=number / len(in_memory)) for number, cluster in enumerate(in_memory, 1)]
    return Corpus(name, [(Reader("", Path.is_file, lambda _: items), Source(name))], in_memory)


def open_corpus(
    path: str | PathLike[str],
    encoding: str | None = None,
    skip_bad: bool = False,
    *,
    references: str | PathLike[str] | None = None,
    language: str | None = None,
    usable: bool = False,
) -> Corpus:
    """A corpus that is read when its clusters are asked for: as `read_clusters`, with one cluster in memory.

    Parameters
    ----------
    path, encoding, skip_bad, references
        As in `read_clusters`.
    language : str, optional
        Only clusters in this language; one that names none is in the one asked for.
    usable : bool
        Leave out clusters without a sentence or without a reference, and say so.
    """
    name, models = Path(fspath(path)), None if references is None else Path(fspath(references))
    paths, sources = paths_matching(str(path)), list[tuple[Reader, Source]]()
    if not paths[0].exists():
        raise FileNotFoundError(f"{name} does not exist. Give a JSON Lines file or a folder of clusters.")
    for place in paths:
        reader = next((reader for reader in READERS if reader.looks_like(place)), None)
        if reader is None:
            advice = "For documents of one cluster, use Cluster.from_files."
            raise ValueError(f"{place} must be {kinds()}, but is none. {advice}")
        sources.append((reader, Source(place, encoding, models, skip_bad, language, usable)))
    return Corpus(name, sources, skip_bad=skip_bad)


def read_clusters(
    path: str | PathLike[str],
    encoding: str | None = None,
    skip_bad: bool = False,
    *,
    references: str | PathLike[str] | None = None,
) -> list[Cluster]:
    """Read the clusters of a corpus, in order of the file or of the folders' names.

    Parameters
    ----------
    path : path
        A JSON Lines file with one cluster per line (packed by gzip, too); or a pattern such as
        "news/*.jsonl.gz"; or a folder with one sub-folder per cluster, holding .txt, .md or .html documents and perhaps
        a folder references/; or a folder with DUC data at any depth, `docs/d30001t/APW19981016.0240` and models
        `D30001.M.100.T.A`; or a folder of documents, which is one cluster.
    encoding : str, optional
        UTF-8 by default; other bytes are an error, never guessed at. DUC files that are not UTF-8 are Latin-1.
    skip_bad : bool
        Leave out what cannot be read, a line of a JSON Lines file, a document or a cluster, and say so in one
        `SkippedWarning`. Otherwise the first such thing is an error.
    references : path, optional
        Where the models of DUC data are, if not under `path`.

    Returns
    -------
    list of Cluster
        At least one. A `SkippedWarning` names files of other kinds and documents without a word in folders; hidden
        files and those called README are no matter.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> line = json.dumps({"id": "rain", "documents": [{"id": "a", "text": "It rained."}], "references": ["Rain."]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "corpus.jsonl")
    ...     _ = file.write_text(line)
    ...     read_clusters(file)[0].id
    'rain'
    """
    return list(open_corpus(path, encoding, skip_bad, references=references).each(stacklevel=4))
