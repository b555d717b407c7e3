"""From documents to sentences, and from options to a selection: all that takes time, and none of HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.mismatch import misread
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.web import schema
from dpplearn.web.answers import selection_answer, whole_answer
from dpplearn.web.pins import Pins
from dpplearn.web.pool import Deadline
from dpplearn.web.problems import Problem, invalid, limited
from dpplearn.web.settings import Settings

BUDGETS = {"words": 100.0, "bytes": 665.0, "sentences": 5.0, "tokens": 150.0}  # where a unit is given without one


@dataclass(frozen=True, eq=False)
class Reading:
    """A cluster that was featurized once, to be selected from many times."""

    model: str
    summarizer: Summarizer
    ready: Prepared
    notes: tuple[str, ...]
    defaults: schema.Defaults

    @property
    def nbytes(self) -> int:
        """Memory it comes to take, about.

        Arrays of one row and column per sentence: C, L, its eigenvectors and similarities, and of the latest
        diversity and pins two kernels with a copy and eigenvectors each; then features, words and texts.
        """
        text = sum(len(document.text) for document in self.ready.read.cluster.documents)
        return 8 * (10 * self.ready.n**2 + 2 * self.ready.read.F.size) + 16 * text


class Engine:
    """The models, and what is done with them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models: dict[str, Summarizer] = {}
        if settings.model is not None:
            self.models[settings.model.stem] = Summarizer.load(settings.model)
        self.models.setdefault("english", Summarizer.load())
        self.default = next(iter(self.models))
        self.warmed = False

    def warm(self) -> None:
        """Compile or load every loop that a request may need, once, so that the first one does not wait for it."""
        if self.warmed:
            return
        forever = Deadline(3_600.0)
        one = Cluster.from_texts(["A storm hit the coast."])  # arrays of one row have a memory layout of their own
        for cluster, pins in (
            (Cluster.example(), {"include": [0], "exclude": [1]}),
            (Cluster.example(), {}),
            (one, {}),
        ):
            reading = self.prepare(cluster, self.default, forever)  # whatever the limits are
            for decoder in ("greedy", "consensus", "sample"):
                for diversity in (0.25, 0.5, 0.75):
                    options = schema.Selection.model_validate({"decoder": decoder, "diversity": diversity, **pins})
                    selection_answer(self.find(reading, options, forever, samples=1_000))
        self.warmed = True

    def describe(self) -> schema.Models:
        """The models by name."""
        return schema.Models(
            models=[
                schema.Model(
                    name=name,
                    language=model.language,
                    features=model.features,
                    budget=model.budget,
                    unit=str(model.unit),
                    decoder=cast(schema.Decoder, model.decoder),
                    trained_on=model.training_,
                    default=name == self.default,
                )
                for name, model in self.models.items()
            ]
        )

    def documents(self, given: Sequence[schema.GivenDocument]) -> list[Document]:
        """The documents of a request, numbered where they have no id."""
        documents = [
            Document(one.id if one.id is not None else str(i), one.text, one.title or None)
            for i, one in enumerate(given, 1)
        ]
        seen: set[str] = set()
        for i, document in enumerate(documents):
            if document.id in seen:
                what = f"the id {document.id!r} occurs twice; ids of documents must differ."
                raise invalid([(("documents", i, "id"), what)])
            seen.add(document.id)
        return documents

    def read(self, documents: Sequence[Document], model: str | None, deadline: Deadline) -> Reading:
        """Split into sentences and featurize, within the limits."""
        limits = self.settings
        name = self.default if model is None else model
        if name not in self.models:
            known = ", ".join(map(repr, self.models))
            raise invalid([(("model",), f"no model is called {name!r}; there are {known}.")])
        if len(documents) > limits.max_documents:
            raise limited(
                "max_documents",
                limits.max_documents,
                f"{len(documents)} documents are more than the {limits.max_documents} that the limit max_documents "
                "allows. Send fewer.",
            )
        for document in documents:
            if len(document.text) > limits.max_document_characters:
                raise limited(
                    "max_document_characters",
                    limits.max_document_characters,
                    f"Document {document.id!r} has {len(document.text):,} characters, more than the "
                    f"{limits.max_document_characters:,} that the limit max_document_characters allows. Cut it.",
                )
        cluster = Cluster(documents)
        sentences = cluster.sentences(limit=None)
        deadline.check()
        if len(sentences) > limits.max_sentences:
            raise limited(
                "max_sentences",
                limits.max_sentences,
                f"The documents have {len(sentences):,} sentences, more than the {limits.max_sentences:,} that the "
                "limit max_sentences allows. Send fewer or shorter documents.",
            )
        return self.prepare(cluster, name, deadline)

    def prepare(self, cluster: Cluster, name: str, deadline: Deadline) -> Reading:
        """Featurize a cluster and make all that does not depend on a selection's options."""
        summarizer = self.models[name]
        try:
            read = summarizer.features_.read(cluster)
        except ValueError:  # none of the sentences, if there are any, has a word that counts
            raise nothing_to_choose() from None
        deadline.check()
        ready = summarizer.prepare(read)
        _ = ready.dpp.marginals, ready.agreement  # what every selection needs is made now
        deadline.check()
        return Reading(name, summarizer, ready, tuple(notes(read, summarizer.language)), self.defaults(name))

    def defaults(self, name: str) -> schema.Defaults:
        """100 words for the English model, as the command line has it; else what the model was trained for."""
        model = self.models[name]
        own = self.settings.model is not None and name == self.default
        return schema.Defaults(
            budget=model.budget if own else 100.0,
            unit=cast(schema.Unit, model.unit) if own else "words",
            diversity=0.5,
            decoder=cast(schema.Decoder, model.decoder),
        )

    def find(
        self, reading: Reading, options: schema.Options, deadline: Deadline, samples: int | None = None
    ) -> Summary:
        """The best set of sentences."""
        defaults, ready = reading.defaults, reading.ready
        unit = options.unit or defaults.unit
        usual = defaults.budget if unit == defaults.unit else BUDGETS[unit]
        budget = usual if options.budget is None else options.budget
        include = options.include if isinstance(options, schema.Selection) else []
        exclude = options.exclude if isinstance(options, schema.Selection) else []
        pins = Pins.of(ready, include, exclude, budget, unit)
        summary = reading.summarizer.summarize(
            ready,
            budget,
            unit,
            decoder=options.decoder or defaults.decoder,
            diversity=options.diversity,
            include=pins.include,
            exclude=pins.exclude,
            n_samples=samples or self.settings.samples,
        )
        deadline.check()
        return summary

    def select(self, reading: Reading, options: schema.Selection, deadline: Deadline) -> schema.SelectionAnswer:
        """A summary of a cluster, with reasons."""
        return selection_answer(self.find(reading, options, deadline))

    def summarize(self, reading: Reading, options: schema.Whole, deadline: Deadline) -> schema.WholeAnswer:
        """The same for documents that are not kept: sentences come with their places."""
        return whole_answer(self.find(reading, options, deadline), reading.notes)


def notes(read: Featurized, language: str | None) -> Iterator[str]:
    """What a reader should know of a cluster: another language than the model's, documents without a sentence."""
    said = misread(read.cluster, language)
    if said is not None:
        yield f"{said} Use a model that was trained on that language (dpplearn serve --model FILE)."
    held = {sentence.document for sentence in read.sentences}
    for i, document in enumerate(read.cluster.documents):
        if i not in held:
            yield f"Document {document.id!r} has no sentence to choose."


def nothing_to_choose() -> Problem:
    return Problem("nothing-to-choose", "None of the documents has a sentence with a word in it. Send more text.")
