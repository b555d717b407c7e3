"""The requests of the API, which FastAPI checks with these classes, and its answers, which they describe."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import UploadFile
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dpplearn.learning.reasons import Reason
from dpplearn.summarize.corpora.candidates import SetAside
from dpplearn.summarize.explain.records import Alike, Covers, Dated, LeavesOut, Sureness
from dpplearn.summarize.text.units import share_of
from dpplearn.summarize.text.words import words

UnitName = Literal["words", "sentences", "bytes", "tokens"]
OfferedDecoder = Literal["consensus", "greedy", "sampled"]
OrderName = Literal["chronological", "source", "importance"]
FormatName = Literal["text", "markdown", "html", "json"]
DECODERS: dict[str, str] = {
    "consensus": "The set that agrees most with sets drawn from the model.",
    "greedy": "Adds the best sentence, one after the other. Fast, and close to the most probable set.",
    "sampled": "The most probable of many sets drawn at random.",
}
ORDER_WORDS: dict[str, str] = {
    "chronological": "documents by date, if dates are known",
    "source": "documents in the order in which you gave them",
    "importance": "the most important sentence first",
}
JSON = "application/json"
# unit: (a usual budget for news, the end of the slider)
BUDGETS = {"words": (100, 500), "sentences": (5, 30), "bytes": (665, 3_000), "tokens": (150, 650)}
MOST_BUDGET = 1_000_000


def check_given_budget(budget: float | str) -> float | str:
    """Check that a budget is a number, a share of the text, or "auto"."""
    if not isinstance(budget, str) and not 1 <= budget <= MOST_BUDGET:
        raise ValueError(f"budget must be a number from 1 to {MOST_BUDGET:,}, found {budget:g}.")
    share_of(budget)
    return budget


def check_question(about: str) -> str | None:
    """A question, which must have a word in it; None if it is blank."""
    if about.strip() and not words(about):
        raise ValueError("about must have a word in it.")
    return about.strip() or None


GivenBudget = Annotated[float | str, Field(union_mode="left_to_right"), AfterValidator(check_given_budget)]
Text = Annotated[str, StringConstraints(max_length=1_000)]
About = Annotated[Text, AfterValidator(check_question)]
Label = Annotated[str, StringConstraints(max_length=200)]
SentenceId = Annotated[int, Field(ge=0, le=1_000_000)]


def examples(*values: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": list(values)})


class Strict(BaseModel):
    """A request, in which unknown members are errors, so that a misspelled one is not silently ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def check_size(cls, data: Any) -> Any:
        """Refuse an object with very many members before each becomes an error."""
        if isinstance(data, dict) and len(data) > 50:
            raise ValueError("An object must have at most 50 members.")
        return data


class GivenDocument(Strict):
    """A text with its title and date."""

    text: str = Field(description="Plain text; blank lines separate paragraphs.", examples=["A storm hit the coast."])
    id: Label | None = Field(None, description="A label, unique among the documents; its number if not given.")
    title: Text | None = Field(None, description="It is shown, but never part of a summary.")
    date: Label | None = Field(None, description="When it was written, such as 2024-03-14 or March 14, 2024.")


STORM: list[Any] = [
    {"id": "herald", "text": "A storm hit the coast on Friday. It sank ten fishing boats in the harbour."},
    {"id": "post", "text": "Ten boats sank when a storm hit the coast. Schools stay closed on Monday."},
]


class NewCluster(Strict):
    """Documents on one topic."""

    model_config = examples({"documents": STORM})

    documents: list[GivenDocument] = Field(min_length=1, max_length=10_000)
    model: Label | None = Field(None, description="A name from GET /models, or the default model.")
    keep_all: bool = Field(False, description="Also choose from headings, tables, code, fragments and repetitions.")


class FileForm(BaseModel):
    """Files of the kinds that GET /models names under `files`: text, HTML, PDF, Word, e-mail ..."""

    model_config = ConfigDict(extra="forbid")

    files: list[UploadFile] = Field(min_length=1)
    model: Label | None = Field(None, description="A name from GET /models.")
    keep_all: bool = Field(False, description="As in POST /clusters.")


class Options(Strict):
    """How long a summary is, how it is chosen, and which sentences must be in it or out."""

    model_config = examples({"budget": 100, "unit": "words", "diversity": 0.5, "exclude": [0]})

    budget: GivenBudget | None = Field(None, description='A number, or a share such as "20%"; by default, what suits.')
    unit: UnitName | None = Field(None, description="Unit of the budget; by default that of `defaults`.")
    diversity: float = Field(0.5, ge=0, le=1, description="0: quality alone, 1: variety alone, 0.5: as learned.")
    decoder: OfferedDecoder | None = Field(None, description="How the set is found; by default, the model's decoder.")
    about: About | None = Field(None, description="A question, or a few words, that the summary is to be about.")
    order: OrderName = Field("chronological", description="; ".join(f"{k}: {what}" for k, what in ORDER_WORDS.items()))
    compress: bool = Field(False, description="Allow shorter forms of sentences, in which spans are dropped.")
    include: list[SentenceId] = Field([], max_length=10_000, description="Numbers of sentences that must be in.")
    exclude: list[SentenceId] = Field([], max_length=10_000, description="Numbers of sentences that must be out.")


class Query(Options):
    """The same options, in the query of a URL."""

    model_config = ConfigDict(strict=False)


class Export(Options):
    """The options of a selection, and the format of the file."""

    model_config = examples({"format": "markdown", "budget": 100, "unit": "words"})

    format: FormatName = Field(description="text, Markdown with sources, an HTML report, or everything as JSON.")


class Whole(NewCluster, Options):
    """Documents and options together."""

    model_config = examples({"documents": STORM, "budget": 15, "unit": "words"})


# Answers, which `answers` makes from the records of `dpplearn.summarize.explain`, under the same names.

CHANCE = "Probability that the learned model includes it, given `include` and `exclude`; no slider moves it."
Contributions = Annotated[
    dict[str, float], Field(description="Terms of log q^2 by feature, without zeros, largest first.")
]


class PlacedSentence(BaseModel):
    """A sentence with its place and its quality."""

    document: int = Field(description="Number of its document, from 0.")
    position: int = Field(description="Its place in the document, from 1.")
    start: int = Field(description="Offset of its first character in the document's text, in Unicode code points.")
    end: int = Field(description="Offset after its last character.")
    text: str
    quality: float = Field(description="q, the square root of L_ii.")


class ReadSentence(PlacedSentence):
    """A sentence of a cluster."""

    id: int = Field(description="Its number in the cluster, from 0.")
    length: dict[UnitName, int] = Field(description="Its length in each unit.")
    contributions: Contributions
    x: float = Field(description="Coordinate on the similarity map, from -1 to 1.")
    y: float


class SkippedFile(BaseModel):
    """A file that could not be read."""

    file: int = Field(description="Its number in the form, from 0.")
    name: str
    detail: str = Field(description="Why, and what to do.")


class ClusterAnswer(BaseModel):
    """A cluster of documents and their sentences."""

    id: str
    model: str
    expires_in: float = Field(description="Seconds until it is dropped after its last use.")
    documents: list[GivenDocument]
    days: list[str | None] = Field(description="The date of each document, such as 2024-03-14, if known.")
    sentences: list[ReadSentence]
    words: list[str] = Field(description="Words that say what it is about, the most important first.")
    set_aside: list[SetAside] = Field(description="Pieces that only `keep_all` would choose from; running text first.")
    defaults: Options = Field(description="The options that `select` uses by default.")
    notes: list[str] = Field(description="Remarks on the documents, such as another language.")
    skipped: list[SkippedFile] = Field(description="Files that could not be read.")


class ChosenSentence(PlacedSentence):
    """A sentence of the summary with its place and its reasons; `text` is what the summary has of it."""

    sentence: int = Field(description="Its number in the cluster.")
    marginal: float = Field(description=CHANCE)
    order: int = Field(description="Its place in the summary, from 1.")
    full: str = Field(description="The whole sentence.")
    dropped: list[tuple[int, int]] = Field(description="Spans of it that the summary leaves out.")
    added: list[str] = Field(description="First names and dates that the summary adds in brackets.")
    contributions: Contributions
    included: bool = Field(description="Whether it is there because the request includes it.")
    words: str = Field(description="Its reasons in words, and what only it speaks of.")
    reasons: list[Reason] = Field(description="At most three, the strongest first.")
    alone: list[str] = Field(description="Words that no other sentence of the summary has.")


class SentenceLeftOut(PlacedSentence):
    """A sentence that is not in the summary, with its place and the reason."""

    sentence: int = Field(description="Its number in the cluster.")
    marginal: float = Field(description=CHANCE)
    code: str = Field(description="Why it was left out, as one word.")
    reason: str = Field(description="Why it was left out, as a few words.")
    by: list[int] = Field(description="The chosen sentences that say it already.")
    redundancy: float = Field(description="The share of it that the whole summary covers.")


class SummaryAnswer(BaseModel):
    """A summary, with reasons."""

    text: str = Field(description="One sentence per line.")
    length: float
    budget: float
    unit: UnitName
    note: str = Field(description="A remark on the summary, such as that a sentence was cut.")
    notes: list[str]
    covers: Covers
    leaves_out: LeavesOut
    similarity: Alike | None = Field(description="Similarity of the chosen sentences; null for fewer than two.")
    sureness: Sureness | None = Field(description="How sure the choice is; null if there was nothing to choose.")
    order: Dated | None = Field(description="How many documents have dates; null in another order.")
    selected: list[ChosenSentence]
    left_out: list[SentenceLeftOut] = Field(description="The best that are not in the summary, at most ten.")
    redundant: list[SentenceLeftOut] = Field(
        description="Good sentences that the summary repeats, the most covered first."
    )
    marginals: list[float] = Field(description="The marginal of every sentence.")


class ProblemDocument(BaseModel):
    """An error, and what to change (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    limit: str | None = Field(None, description="The name of the limit that the request passes.")
    value: float | None = Field(None, description="What the limit allows.")
    errors: list[dict[str, str]] | None = Field(None, description="`pointer` and `detail` of wrong values.")
