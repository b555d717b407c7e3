"""Requests and answers of the API, with examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dpplearn.web.given_budget import GivenBudget


class Unit(BaseModel):
    """What a budget is counted in."""

    budget: float = Field(description="About what suits a cluster of news, where none is given.")
    reach: float = Field(description="Few want longer summaries: as far as a slider need go.")


DECODERS = {
    "consensus": "The set that agrees most with what the model would choose on average.",
    "greedy": "Adds the best sentence again and again: close to the most probable set.",
    "sampled": "The most probable of many sets drawn at random.",
}
UNITS = {
    "words": Unit(budget=100, reach=500),
    "sentences": Unit(budget=5, reach=30),
    "bytes": Unit(budget=665, reach=3_000),
    "tokens": Unit(budget=150, reach=650),
}

ORDERS = {
    "chronological": "documents by their date, where that is known",
    "source": "documents as they were given",
    "importance": "what adds most first",
}

if TYPE_CHECKING:
    UnitName: TypeAlias = str
    DecoderName: TypeAlias = str
    OrderName: TypeAlias = str
else:  # names that are known when this runs, so that the schema lists them
    UnitName = Literal[tuple(UNITS)]
    DecoderName = Literal[tuple(DECODERS)]
    OrderName = Literal[tuple(ORDERS)]

Label = Annotated[str, StringConstraints(max_length=200)]
SentenceId = Annotated[int, Field(ge=0, le=1_000_000)]
Marginal = Annotated[
    float,
    Field(
        description="Probability that the learned model includes the sentence, given what is pinned and banned. "
        "Budget and diversity do not change it: they say how to choose from the model."
    ),
]
Notes = Annotated[
    list[str],
    Field(description="What a reader should know of the documents, such as that they are not in the model's language."),
]


def examples(*values: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": list(values)})


class Strict(BaseModel):
    """A request: unknown members are refused, so that a misspelled one is not silently ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class GivenDocument(Strict):
    """A text of the request."""

    text: str = Field(description="Plain text; blank lines separate paragraphs.", examples=["A storm hit the coast."])
    id: Label | None = Field(None, description="A label, unique among the documents; its number if not given.")
    title: Annotated[str, StringConstraints(max_length=1_000)] | None = Field(
        None, description="Shown, but never part of a summary."
    )
    date: Label | None = Field(None, description="When it was written, such as 2024-03-14 or March 14, 2024.")


STORM: list[Any] = [
    {"id": "herald", "text": "A storm hit the coast on Friday. It sank ten fishing boats in the harbour."},
    {"id": "post", "text": "Ten boats sank when a storm hit the coast. Schools stay closed on Monday."},
]


class NewCluster(Strict):
    """Documents on one topic."""

    model_config = examples({"documents": STORM})

    documents: list[GivenDocument] = Field(min_length=1)
    model: Label | None = Field(None, description="A name from GET /models; the default model if not given.")
    min_words: int = Field(1, ge=0, le=1_000, description="Fewest words of a sentence to choose from.")
    keep_all: bool = Field(
        False, description="Choose from headings, tables, code, fragments and what stands in several documents, too."
    )


class Options(Strict):
    """How long a summary is and how it is chosen."""

    budget: GivenBudget = Field(
        None,
        description='Length in the unit, or a share of the text such as "20%"; by default what suits its length, about '
        "100 words for a cluster of news.",
    )
    unit: UnitName | None = Field(
        None, description="Of the budget; that of `defaults` if none is given, usually words."
    )
    diversity: float = Field(0.5, ge=0, le=1, description="0: quality alone, 1: variety alone, 0.5: as learned.")
    decoder: DecoderName | None = Field(None, description="How the set is found; by default as the model has it.")
    about: Annotated[str, StringConstraints(max_length=1_000)] | None = Field(
        None, description="A question, or a few words: what the summary is to be about."
    )
    order: OrderName = Field("chronological", description="; ".join(f"{name}: {what}" for name, what in ORDERS.items()))
    compress: bool = Field(
        False, description="Choose from shorter forms of sentences, too, with spans dropped and no word changed."
    )


class Selection(Options):
    """Options of a selection from a cluster, with sentences that must be in or out."""

    model_config = examples({"budget": 100, "unit": "words", "diversity": 0.5, "exclude": [0]})

    include: list[SentenceId] = Field(default_factory=list, max_length=10_000, description="Sentences pinned.")
    exclude: list[SentenceId] = Field(default_factory=list, max_length=10_000, description="Sentences banned.")


FORMATS = {
    "text": "text/plain",
    "markdown": "text/markdown",
    "html": "text/html",
    "json": "application/json",
}
if TYPE_CHECKING:
    FormatName: TypeAlias = str
else:
    FormatName = Literal[tuple(FORMATS)]


class Export(Selection):
    """A selection, and the kind of file to make of it."""

    model_config = examples({"format": "markdown", "budget": 100, "unit": "words"})

    format: FormatName = Field(description="text, Markdown with sources, an HTML report, or everything as JSON.")


class Whole(NewCluster, Options):
    """Documents and options in one."""

    model_config = examples({"documents": STORM, "budget": 15, "unit": "words"})


class Document(BaseModel):
    """A text as it was read."""

    id: str
    title: str
    text: str
    date: str | None = Field(None, description="When it was written, where that is known.")


class Example(BaseModel):
    """The example cluster: articles on an invented event."""

    title: str
    documents: list[Document]


class Place(BaseModel):
    """Where a sentence stands."""

    document: int = Field(description="Number of its document, from 0.")
    position: int = Field(description="Its place in the document, from 1.")
    start: int = Field(description="Offset of its first character in the document's text, in Unicode code points.")
    end: int = Field(description="Offset after its last character.")
    text: str


class Judged(BaseModel):
    """What the model thinks of a sentence."""

    quality: float = Field(description="q, the square root of L_ii.")
    contributions: dict[str, float] = Field(description="Terms of log q^2 by feature, largest first; none is 0.")


class Sentence(Judged, Place):
    """A sentence, where it stands, and what the model thinks of it."""

    id: int = Field(description="Its number in the cluster, from 0.")
    length: dict[UnitName, int] = Field(description="What it takes of a budget, by unit.")
    x: float = Field(description="Place on the similarity map, from -1 to 1.")
    y: float


class Piece(BaseModel):
    """A piece of a document that is not among the sentences, and why."""

    text: str
    document: int = Field(description="Number of its document, from 0.")
    start: int
    end: int
    kind: str = Field(description="What its block is: paragraph, item, quotation, heading, caption, row, code, ...")
    code: str = Field(description="kind, no-sentence, courtesy, announces, too-short, repeated or boilerplate.")
    reason: str = Field(description="The same in a few words.")


class SetAside(BaseModel):
    """What `keep_all` would make sentences of."""

    count: int
    pieces: list[Piece] = Field(description="All of them, running text first.")


class Defaults(BaseModel):
    """What `select` uses where nothing is given."""

    budget: float
    unit: UnitName
    diversity: float
    decoder: DecoderName


class Skipped(BaseModel):
    """A file of a form that could not be read."""

    file: int = Field(description="Its number in the form, from 0.")
    name: str
    detail: str = Field(description="Why, and what to do.")


class ClusterAnswer(BaseModel):
    """A cluster that was read."""

    id: str
    model: str
    expires_in: float = Field(description="Seconds that it is kept after its last use.")
    documents: list[Document]
    days: list[str | None] = Field(description="When each document was written, such as 2024-03-14, where it is known.")
    sentences: list[Sentence]
    set_aside: SetAside
    defaults: Defaults
    notes: Notes
    skipped: list[Skipped] = Field(description="Files of a form that could not be read; the others were.")


class Reason(BaseModel):
    """What speaks for a sentence, compared with the average sentence of these documents."""

    idea: str
    words: str
    amount: float = Field(description="Logarithm of how many times as likely it makes the sentence: 0.69 is twice.")
    error: float | None = Field(description="Its standard error, where that is known.")


class Chosen(Judged):
    """A sentence of the summary, and why."""

    words: str = Field(description="Why it is there: its reasons in words, and what it alone speaks of.")
    reasons: list[Reason] = Field(description="At most three, the strongest first.")
    alone: list[str] = Field(description="Words that no other sentence of the summary has.")
    sentence: int
    order: int = Field(description="Its place in the summary, from 1.")
    pinned: bool
    marginal: Marginal
    dropped: list[tuple[int, int]] = Field(
        description="Spans of the sentence's text that the summary does without; none unless `compress` was asked for."
    )


class Redundant(Judged):
    """A good sentence that is not in the summary, because the summary says it already."""

    sentence: int
    similar_to: int = Field(description="The chosen sentence that is most like it.")
    similarity: float = Field(description="Cosine between the two.")
    shared: list[str] = Field(description="Words that both have.")
    redundancy: float = Field(description="Share of it that the summary as a whole covers.")
    code: str = Field(description="Why it was left out: redundant, or same-words.")
    reason: str = Field(description="The same in a few words.")
    marginal: Marginal


class Alike(BaseModel):
    """How alike the chosen sentences are: cosines between every two of them."""

    mean: float
    max: float
    words: str


class Covers(BaseModel):
    """What a summary has of its documents."""

    documents: list[int] = Field(description="Numbers of those that it has a sentence of.")
    of: int = Field(description="How many there are.")
    share: float = Field(
        description="Of the words that several sentences have; of all, where fewer than five are such."
    )
    words: str


class Topic(BaseModel):
    """Words of a sentence, of which the summary has none, and how many documents have one of them."""

    words: list[str]
    sentence: int
    documents: int


class LeavesOut(BaseModel):
    """What a summary has nothing of."""

    documents: list[int]
    topics: list[Topic]
    words: str


class Sureness(BaseModel):
    """How sure a choice is."""

    kept: float = Field(description="How many of these sentences a summary has that the model draws, on average.")
    of: int
    share: float = Field(description="The same, by length.")
    words: str


class SummaryHead(BaseModel):
    """A summary."""

    text: str = Field(description="One sentence per line.")
    length: float
    budget: float
    unit: UnitName
    note: str = Field(description="What a reader should know of the summary, such as that a sentence was cut.")
    covers: Covers
    leaves_out: LeavesOut
    similarity: Alike | None = Field(description="Among the chosen sentences; null for fewer than two.")
    sureness: Sureness | None = Field(description="Null where nothing was to choose.")


class SelectionAnswer(SummaryHead):
    """A summary of a cluster, with reasons."""

    selected: list[Chosen]
    redundant: list[Redundant]
    left_out: list[int] = Field(description="The best sentences that are not in the summary, at most ten, best first.")
    reasons: list[str] = Field(description="Of every sentence: why it was left out; empty for the selected.")
    by: list[list[int]] = Field(description="Of every sentence: those without which it would be chosen.")
    marginals: list[Marginal] = Field(description="Of every sentence.")


class PlacedChosen(Chosen, Place):
    """A sentence of the summary, why, and where it stands; `text` is what the summary has of it."""

    full: str = Field(description="The whole sentence, of which `dropped` are spans.")


class PlacedRedundant(Redundant, Place):
    """A good sentence left out; here `similar_to` is an index into `selected`."""


class WholeAnswer(SummaryHead):
    """A summary of the documents of the request."""

    selected: list[PlacedChosen]
    redundant: list[PlacedRedundant]
    notes: Notes


class Model(BaseModel):
    """A model that summaries can be made with."""

    name: str
    language: str | None
    features: str
    budget: float
    unit: str
    decoder: DecoderName
    trained_on: dict[str, Any]
    default: bool


class Models(BaseModel):
    """All models of the server, and what may be asked of them."""

    models: list[Model]
    decoders: dict[DecoderName, str] = Field(description="How each finds a set.")
    units: dict[UnitName, Unit]
    orders: dict[OrderName, str] = Field(description="How the sentences of a summary may be ordered.")
    files: list[str] = Field(description="How names of files end that a form may hold.")


class Health(BaseModel):
    """Whether the server lives, and how busy it is."""

    status: Literal["ok"]
    version: str
    workers: int
    running: int
    waiting: int
    clusters: int
    warm: bool  # whether all loops are compiled: until then answers take a little longer


class ErrorPlace(BaseModel):
    """A value that is not valid."""

    pointer: str
    detail: str


class ProblemDocument(BaseModel):
    """What went wrong and what to change (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    limit: str | None = Field(None, description="Name of the limit that was passed.")
    value: float | None = Field(None, description="What the limit allows.")
    errors: list[ErrorPlace] | None = None
