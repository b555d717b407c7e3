"""One pass over a corpus: something done with each piece, by whoever works, and kept in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._io.workfolder import WorkFolder
from dpplearn._numba import compiled_always
from dpplearn._run.progress import Progress
from dpplearn._run.workers import Workers
from dpplearn.summarize.corpora.pieces import CorpusPiece
from dpplearn.summarize.corpora.reading import Corpus
from dpplearn.summarize.corpora.source import Source


class Pass(NamedTuple):
    """A corpus, who works on it, and where what is made goes."""

    corpus: Corpus
    folder: WorkFolder
    workers: Workers
    progress: Progress

    def each(
        self,
        what: str,
        stage: str,
        work: Callable[[Any], int],
        ask: Callable[[CorpusPiece, Path], Any],
        *,
        size: Callable[[Path], int],
        ending: str = ".json",
    ) -> tuple[list[Path], Source]:
        """Do what is asked with all pieces whose files are not there; the files in order, and what was passed over.

        `work` returns how many clusters it did, and `size` tells that of a file that is there.
        """
        files, share, done, finished, notes = list[Path](), 0.0, 0, 0, self.corpus.notes()

        def tasks() -> Iterator[Any]:
            nonlocal share, done, finished
            for piece in self.corpus.pieces(notes):
                out, share = self.folder.file(stage, piece.number, ending), piece.cut.share
                files.append(out)
                if out.exists():
                    done, finished = done + size(out), finished + 1
                else:
                    yield ask(piece, out)

        for _, n in self.workers.each(partial(compiled, work), tasks()):
            done, finished = done + n, finished + 1
            # how many there will be, by the share of the files that the pieces so far are
            guess = round(done / finished * len(files) / share) if share else 0
            self.progress.stage(what, done, max(guess, done))
        self.progress.stage(what, done, max(done, 1))
        return files, notes


def compiled(work: Callable[[Any], int], task: Any) -> int:
    """With loops compiled: the digits are the same whoever does it, and whatever was on disk."""
    with compiled_always():
        return work(task)
