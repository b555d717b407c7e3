"""Splits documents into sentences and chooses among them for the API, without any HTTP."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import IntArray
from dpplearn._numba import compiled_always
from dpplearn._run.stop import check_stop
from dpplearn.summarize.corpora.cluster import Cluster, Document, NoSentencesError, TooManySentencesError
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.prepared import Prepared, first_choice, language_note
from dpplearn.summarize.model.split_cluster import SplitCluster, split_cluster
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import AUTO, Budget, Unit, budget_in_unit, joined_length, size_in_words
from dpplearn.web import schema
from dpplearn.web.problems import Problem, invalid, limited
from dpplearn.web.settings import Settings


class FeaturizedCluster(NamedTuple):
    """A cluster with features for a model, and notes for the reader."""

    model: str
    featurized: SplitCluster
    notes: tuple[str, ...]
    skipped: tuple[schema.SkippedFile, ...] = ()


@dataclass(frozen=True, eq=False)
class ServedCluster:
    """A cluster that is prepared once, and from which sentences are selected many times."""

    read: FeaturizedCluster
    summarizer: Summarizer
    prepared: Prepared
    defaults: schema.Options
    answer: bytes = b""  # the JSON that describes it

    @cached_property
    def forms(self) -> Prepared:
        """The cluster with the shorter forms of its sentences."""
        read = self.summarizer.features_.with_forms(self.prepared.split, self.summarizer.language_)
        return self.prepared if read is self.prepared.split else replace(self.prepared, split=read, compressed=True)

    @cached_property
    def _own(self) -> int:
        return 17_000 + 6 * len(pickle.dumps(self.read)) + len(self.answer)

    @property
    def nbytes(self) -> int:
        """The memory it needs, estimated rather too high.

        There are arrays with a row and a column for each sentence (C, L, its eigenvectors and similarities, two kernels
        with copies and eigenvectors), and texts, words and features, which need up to six times their size in a file.
        """
        more = self.forms.n if "forms" in vars(self) else 0  # the same for the shorter forms, once they exist
        return 160 * (self.prepared.n**2 + more**2) + 10_000 * more + self._own


class Engine:
    """The models of a server, and the work with them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models: dict[str, Summarizer] = {}
        if settings.model is not None:
            self.models[settings.model.stem] = Summarizer.load(settings.model)
        self.models.setdefault("general", Summarizer.load())
        self.default = next(iter(self.models))
        self.warmed = False

    def warm(self) -> None:
        """Compile or load every loop that a request may need, so that no request waits for it."""
        with compiled_always():  # the decoder "sampled" needs the loops of all others, too
            reading = self.prepare(self.read(Cluster.example().documents, self.default))
            self.summarize(reading, schema.Options.model_validate({"decoder": "sampled"})).explain().to_dict()
        self.warmed = True

    def featurize(self, documents: Sequence[Document], model: str | None, **options: Any) -> FeaturizedCluster:
        """Split documents into sentences with features, within the limits; `kept` says which pieces may be chosen."""
        name = self.default if model is None else model
        if name not in self.models:
            names = ", ".join(map(repr, self.models))
            raise invalid((("model",), f"no model is called {name!r:.200}; there are {names}."))
        if len(documents) > (most := self.settings.max_documents):
            raise limited("too-large", "max_documents", most, f"There are {len(documents):,} documents", "Send fewer.")
        for document in documents:
            check_characters(document, f"Document {document.id!r}", self.settings)
        try:
            return self.read(documents, name, self.settings.max_sentences, **options)
        except NoSentencesError:
            raise Problem("nothing-to-choose") from None
        except TooManySentencesError:  # splitting stops there
            most = self.settings.max_sentences
            what = f"The documents have more than {most:,} sentences"
            raise limited("too-large", "max_sentences", most, what, "Send fewer or shorter documents.") from None

    def read(self, documents: Sequence[Document], name: str, most: int = 1_000, **options: Any) -> FeaturizedCluster:
        """Split documents for a model; an error if there are more than `most` sentences."""
        model = self.models[name]
        split = split_cluster(Cluster(documents), most, **options)
        featurized = model.features_.featurized(split)
        if len(featurized) > (keep := self.settings.exact_sentences):
            featurized = featurized.only(first_choice(featurized, model._trained.model, keep))
        return FeaturizedCluster(name, featurized, tuple(notes(featurized, model.language)))

    def prepare(self, read: FeaturizedCluster) -> ServedCluster:
        """Compute everything that does not depend on the options of a selection."""
        summarizer = self.models[read.model]
        prepared = summarizer.prepare(read.featurized)
        _ = prepared.dpp.marginals  # every selection needs these
        check_stop()
        _ = prepared.agreement
        check_stop()
        length, unit = summarizer.default_length()
        defaults = {
            "budget": length_in(prepared, length, str(unit)),
            "unit": unit,
            "decoder": offered_decoder(summarizer),
        }
        return ServedCluster(read, summarizer, prepared, schema.Options.model_validate({"diversity": 0.5, **defaults}))

    def summarize(self, reading: ServedCluster, options: schema.Options) -> Summary:
        """Choose the best set of sentences."""
        defaults, prepared = reading.defaults, reading.prepared
        unit = str(options.unit or defaults.unit)
        usual_budget = defaults.budget if unit == defaults.unit else AUTO
        budget = length_in(prepared, options.budget or usual_budget or AUTO, unit)
        include, exclude = check_choices(prepared, options, budget, unit)
        if options.compress:
            prepared = reading.forms
            if prepared.split.forms is not None:  # a sentence comes before its shorter forms
                first = np.unique(prepared.split.forms, return_index=True)[1]
                include, exclude = first[include], first[exclude]
        how: dict[str, Any] = {"decoder": options.decoder or defaults.decoder, "order": options.order}
        how |= {"diversity": options.diversity, "about": options.about, "include": include, "exclude": exclude}
        summary = reading.summarizer.summarize(prepared, budget, unit, n_samples=self.settings.samples, **how)
        check_stop()
        return summary


def check_characters(document: Document, name: str, settings: Settings) -> None:
    """Raise a problem if a document is longer than the settings allow."""
    if len(document.text) > (most := settings.max_document_characters):
        found = f"{name} has {len(document.text):,} characters"
        raise limited("too-large", "max_document_characters", most, found, "Cut it, or send it in parts.")


def check_choices(prepared: Prepared, options: schema.Options, budget: float, unit: Unit) -> tuple[IntArray, IntArray]:
    """The sentences to include and to exclude, if they exist, do not contradict each other, and fit the budget."""
    n, A, B = prepared.n, *(np.unique(items).astype(np.int64) for items in (options.include, options.exclude))
    for name, items in (("include", A), ("exclude", B)):
        if items.size and items[-1] >= n:
            raise invalid(((name,), f"there is no sentence {items[-1]}: the cluster's are numbered 0 to {n - 1}."))
    both, named = np.intersect1d(A, B).tolist(), prepared.split.annotated_texts
    size = joined_length([named[i] for i in A], unit) if A.size else 0
    if both:
        why = f"Sentence {both[0]} cannot be both included and excluded. Undo one of the two."
    elif B.size == n:
        why = f"All {n} sentences are excluded: none is left to choose. Allow some of them."
    elif size > budget:
        what = f"The {A.size} included sentences take" if A.size > 1 else "The included sentence takes"
        fitting = f"Raise the budget to {size:g} or include fewer."
        why = f"{what} {size_in_words(size, unit)}, more than the budget of {budget:g}. {fitting}"
    elif A.size and prepared.dpp.log_prob(A) == -np.inf:
        why = "The included sentences cannot go together: one repeats the words of others. Leave one of them out."
    else:
        return A, B
    raise Problem("infeasible", why)


def length_in(prepared: Prepared, budget: Budget, unit: str) -> float:
    """A budget as a number in the unit."""
    best = int(np.lexsort((prepared.dpp.quality, prepared.split.alone))[-1])
    return budget_in_unit(budget, unit, prepared.split.full_texts, prepared.split.annotated_texts[best])


def offered_decoder(model: Summarizer) -> str:
    """The model's decoder, or "consensus" if the API does not offer it because it may take a minute."""
    return model.decoder if model.decoder in schema.DECODERS else "consensus"


def notes(read: SplitCluster, language: str | None) -> Iterator[str]:
    """Notes for the reader: that the language is not the model's, or that a document has no sentence."""
    note = language_note(read.cluster, language)
    if note is not None:
        yield f"{note} Use a model that was trained on that language (dpplearn serve --model FILE)."
    if read.n_dropped:
        n = len(read)
        yield f"Of {n + read.n_dropped:,} sentences, the {n:,} most promising ones are left to choose from."
        return  # a document without one of these may have had sentences
    with_sentences = {sentence.document for sentence in read.sentences}
    for i, document in enumerate(read.cluster.documents):
        if i not in with_sentences:
            yield f"Document {document.id!r} has no sentence to choose."
