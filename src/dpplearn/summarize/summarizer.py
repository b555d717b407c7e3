"""The summarizer of section 7: learn what good extracts look like, then choose the best set of sentences."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray, Items, check_choice, check_subset, warn_user
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress
from dpplearn.decoding.limits import check_diversity
from dpplearn.decoding.registry import check_decoder
from dpplearn.dpp import DPP
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.given import Given, as_cluster
from dpplearn.summarize.corpora.reading import Corpus
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.about import Question, check_about
from dpplearn.summarize.model.choice import CHRONOLOGICAL, ORDERS, SAMPLES, Decision
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.oracle import extracts
from dpplearn.summarize.model.prepared import Prepared, first_choice, misread
from dpplearn.summarize.model.settings import SummarizerSettings, Trained, load_summarizer, save_summarizer
from dpplearn.summarize.model.split_cluster import EXACT, SplitCluster
from dpplearn.summarize.model.training import train
from dpplearn.summarize.text.units import AUTO, Budget, Unit, check_length, settled

if TYPE_CHECKING:
    from dpplearn.learning.conditional import ConditionalDPP

FOUND_BY_FIT = ("_trained", "model_", "theta_", "theta_std_", "rho_", "features_", "language_", "training_")


class Summarizer(SummarizerSettings):
    """Extractive summaries of document clusters by a learned DPP.

    Parameters
    ----------
    features : {"general", "paper"}
        Quality features of sentences, see `SentenceFeatures`: for any kind of text, or those of section 7.2.
    decoder : {"consensus", "greedy", "sampled", "local", "exact"}
        How the set of sentences is found: the one that agrees most with those of the model; Algorithm 2;
        the most probable of 10^6 samples; or another of `dpplearn.decoding`. The consensus decoder, which averages over
        sets, learns from one extract for each reference; the others, which look for the one best set, learn from one
        for all references together, as in the paper.
    budget, unit : float and str or callable
        Length of the summaries to learn from, and of those that `dpplearn evaluate` scores: "bytes", "words",
        "sentences", "tokens", or a function of a text. Those that `summarize` makes have a length of their own.
    rho : float
        Constant similarity feature (section 7.2): more makes all sentences more alike, and repel each other more.
    prior_variance : float
        Of the Gaussian prior on the weights.
    language : str, optional
        English by default: words are stemmed as ROUGE does it where summaries are compared. For any other language
        they are not. "any" goes by each cluster's own, as the model that comes with dpplearn does.
    oracle : {"pairs", "paper"}
        Which extracts to learn from: those of large ROUGE-1 and ROUGE-2 F together, or the paper's; see
        `dpplearn.summarize.model.oracle`.
    random_state : int
        Seed of the decoders that draw samples.

    Attributes
    ----------
    model_ : ConditionalDPP
        The learned model; its `theta_`, `theta_std_` and `rho_` are also here.
    features_ : SentenceFeatures
    language_ : str or None
        As given, or what the clusters say.
    training_ : dict
        How much was learned from, and how it went.

    Examples
    --------
    >>> from dpplearn.summarize import Cluster, Summarizer
    >>> summary = Summarizer.load().summarize(Cluster.example(), budget=50, unit="words")
    >>> len(summary.text.split()) <= 50
    True
    """

    theta_: FloatArray
    theta_std_: FloatArray
    rho_: float
    features_: SentenceFeatures
    _trained: Trained
    language_: str | None
    training_: dict[str, Any]
    _bundled = False  # for texts of any length

    def fit(
        self,
        clusters: Iterable[Cluster] | Corpus,
        *,
        n_jobs: int | None = 1,
        backend: Any = None,
        verbose: bool | Progress = False,
        work: str | os.PathLike[str] | None = None,
        anew: bool = False,
        out: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from clusters with reference summaries: features, oracle extracts, weights.

        Parameters
        ----------
        clusters : list of Cluster, or Corpus
            Each with at least one reference. A corpus (`open_corpus`) is read piece by piece, where it lies; memory
            does not grow with it.
        n_jobs, backend, verbose
            As in `ConditionalDPP`; every stage runs there, and the result is the same to the bit.
        work : path, optional
            A folder for what is made on the way, which every worker can reach. A fit that was stopped goes on from it;
            when it is done, it is removed. Default: a temporary one.
        anew : bool
            Whether a folder with the work of another fit is emptied, instead of refused.
        out : path, optional
            Save the model there, as `save` does, before the folder is removed: where that fails, the next fit goes on.
        """
        if isinstance(clusters, Cluster):
            raise TypeError("Training needs a list of clusters, found one: pass [cluster].")
        if isinstance(clusters, str | os.PathLike):
            raise TypeError(f"Training needs clusters, found a path: pass open_corpus({str(clusters)!r}).")
        given = clusters if isinstance(clusters, Corpus) else [*clusters]
        options: dict[str, Any] = {"n_jobs": n_jobs, "backend": backend, "verbose": verbose}
        return self._keep(train(self.settings, given, work=work, anew=anew, out=out, **options))

    def oracle_items(self, split: SplitCluster, budget: float | None = None, unit: Unit | None = None) -> IntArray:
        """The extract of a cluster that training aims at (section 7.1), or that of another length."""
        own, language = self.settings, getattr(self, "language_", self.language)
        budget, unit = own.budget if budget is None else budget, own.unit if unit is None else unit
        asked = replace(own, budget=budget, unit=unit, language=language)
        return extracts(split, asked, [split.cluster.references])[0]

    def dpp(self, cluster: Given | SplitCluster) -> DPP:
        """The DPP over a cluster's sentences, `model_.dpp` of its items: L_ij = q_i S_ij q_j."""
        return self.prepare(cluster).dpp

    def prepare(
        self,
        cluster: Given | SplitCluster | Prepared,
        *,
        keep_all: bool = False,
        compress: bool = False,
        about: str | None = None,
    ) -> Prepared:
        """All that summaries of a cluster have in common, so that many of them take one reading.

        Options are those of `summarize`; with `compress` shorter forms stand each after its sentence. Of more than
        3,000 candidates, the 3,000 are kept that a first choice by the model, part by part, finds best:
        `.split.sentences` of what is returned.

        Examples
        --------
        >>> from dpplearn.summarize import Cluster, Summarizer
        >>> summarizer = Summarizer.load()
        >>> ready = summarizer.prepare(Cluster.example())
        >>> [len(summarizer.summarize(ready, budget, "sentences").sentences) for budget in (1, 2)]
        [1, 2]
        """
        features, model, language, _ = self._trained
        about = None if about is None else check_about(about)
        if isinstance(cluster, SplitCluster | Prepared) and keep_all:
            raise ValueError("keep_all says how a cluster is read, and this one was read already.")
        if isinstance(cluster, Prepared):
            if cluster.model is not model:
                raise ValueError("This cluster was prepared by another summarizer, or before fit. Call prepare again.")
            if compress and not cluster.compressed:
                raise ValueError("This cluster was prepared without shorter forms: call prepare(..., compress=True).")
            return cluster.about(about)
        if isinstance(cluster, SplitCluster):
            split = cluster
        else:
            own = as_cluster(cluster)
            if message := misread(own, language):
                advice = "(dpplearn train --language NAME, or Summarizer(language=NAME).fit) and use that one."
                warn_user(f"{message} Train a model on clusters in that language {advice}")
            split = features.read(own, keep_all=keep_all)
        language = split.cluster.read_as(language)
        split = features.with_forms(split, language) if compress and split.forms is None else split
        compressed, asked = compress or split.forms is not None, None if about is None else Question.of(split, about)
        if len(split) > EXACT:  # of very many sentences, a first choice
            kept = first_choice(split, model, EXACT, lift=0.0 if asked is None else asked.lift)
            split, asked = split.only(kept), None if asked is None else asked.only(kept)
        return Prepared(split, model, language, asked, compressed)

    def summarize(
        self,
        cluster: Given | SplitCluster | Prepared,
        budget: Budget | None = None,
        unit: Unit | None = None,
        *,
        decoder: str | None = None,
        diversity: float = 0.5,
        include: Items = (),
        exclude: Items = (),
        n_samples: int = SAMPLES,
        fill: bool = False,
        keep_all: bool = False,
        about: str | None = None,
        order: str = CHRONOLOGICAL,
        compress: bool = False,
        annotate: bool = True,
    ) -> Summary:
        """The best set of the cluster's sentences that fits the budget.

        A budget is a limit: a sentence is taken where the model finds it worth having at this length
        (`dpplearn.summarize.model.choice`). In sentences it is a number: there are so many, where there are so many
        with words of their own. Never empty when a sentence fits, never over the budget; when no sentence fits, the
        best one is cut at the limit, and `note` says so.

        Parameters
        ----------
        cluster : Cluster, str, path, bytes, Document, or several of these
            Or what `prepare` made of it. A string is a path where such a file or folder exists, else a text; see
            `dpplearn.summarize.corpora.given.as_cluster`.
        budget : number or str, optional
            Such as 100, "20%" of the text, or "auto", what suits its length: about 100 words for a cluster of news,
            growing with the cube root of the words, 60 at least but at most a third of them. Both of these have room
            for one sentence.
            Default: what the model was trained for; "auto" for the one that comes with dpplearn, or in another unit.
        unit : str or callable, optional
            Default: that of the model for a number, else words.
        decoder : str, optional
            Another than the summarizer's own.
        diversity : float
            0 is quality alone, 1 similarity alone, 0.5 the learned model.
        include, exclude : item numbers, optional
            Sentences that must be in or out, as numbered in `prepare(cluster).split.sentences`.
        n_samples : int
            Sets drawn by the decoder "sampled".
        fill : bool
            Whether the decoder fills the budget with whatever fits, as Algorithm 2 and the paper's sampling do, and
            opens with any sentence.
        keep_all : bool
            Which sentences are candidates, as in `Cluster.sentences`.
        about : str, optional
            A question, or a few words: what the summary is to be about. Sentences that are relevant to it gain quality
            (`dpplearn.summarize.model.about`); of a very long text, also in the first choice, unless it was prepared.
        order : {"chronological", "source", "importance"}
            Of the sentences: documents by date where dates are known; as given; or what adds most first.
        compress : bool
            Whether shorter forms of sentences are candidates, too, made by dropping spans
            (`dpplearn.summarize.text.short_forms`); at most one form of each is chosen. Of those chosen, `full` is the
            sentence and `dropped` the spans.
        annotate : bool
            Whether a sentence says in brackets what its document says of a surname that nobody introduced,
            "[Vincent] Cochetel", and, while there is room, the date of a weekday where documents are of several days,
            "Thursday [22 October]". Of English texts.
        """
        how: dict[str, Any] = {"diversity": check_diversity(diversity), "order": check_choice(order, "order", ORDERS)}
        how |= {"fill": fill, "n_samples": n_samples, "keep_all": keep_all, "compress": compress, "about": about}
        how |= {"annotate": annotate}
        return Summary.of(self._decision(cluster, budget, unit, decoder, include, exclude, **how))

    def _decision(
        self, cluster: Given | SplitCluster | Prepared, budget: Budget | None, unit: Unit | None, decoder: str | None,
        include: Items = (), exclude: Items = (), *, keep_all: bool = False, compress: bool = False,
        about: str | None = None, **how: Any,
    ) -> Decision:  # fmt: skip
        """What a summary is asked for; `how` are fields of `Decision`."""
        settings = self.settings
        name = settings.decoder if decoder is None else check_decoder(decoder)
        budget, unit = self._length(budget, unit)
        with blas_threads(0):  # small matrices: a second thread gains little, and waits long on a busy machine
            prepared = self.prepare(cluster, keep_all=keep_all, compress=compress, about=about)
            pinned, excluded = (
                check_subset(include, prepared.n, "include"),
                check_subset(exclude, prepared.n, "exclude"),
            )
            allowed = prepared.allowed(pinned, excluded)
            best = int(np.where(allowed, prepared.dpp.quality, -1.0).argmax())
            texts = prepared.split.named if how.get("annotate") else prepared.split.texts
            budget = settled(budget, unit, prepared.split.whole, texts[best])
            return Decision(prepared, name, budget, unit, pinned, excluded, allowed, rng=settings.random_state, **how)

    def _length(self, budget: Budget | None, unit: Unit | None) -> tuple[Budget, Unit]:
        """How long a summary is to be, where it is not said."""
        if budget is None:
            own = not self._bundled and unit in (None, self.unit)
            budget, unit = (self.budget, self.unit) if own else (AUTO, unit or "words")
        elif unit is None:
            unit = "words" if isinstance(budget, str) else self.unit
        check_length(budget, unit)
        return budget, unit

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON: weights by name, bins, document frequencies. Reading it runs no code."""
        save_summarizer(self.settings, self._trained, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """Read a model that `save` wrote; without a path, the one for any text that comes with dpplearn."""
        settings, trained = load_summarizer(path)
        found = cls(**settings.get_params())._keep(trained)
        found._bundled = path is None
        return found

    def _keep(self, trained: Trained) -> Self:
        self._trained = trained
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in FOUND_BY_FIT:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if "_trained" not in vars(self):
            from sklearn.exceptions import NotFittedError  # what ConditionalDPP raises, imported where it is needed

            raise NotFittedError("This Summarizer is not fitted yet: call fit(clusters), or Summarizer.load().")
        model = self._trained.model
        return getattr(model, name) if hasattr(model, name) else getattr(self._trained, name.removesuffix("_"))

    @property
    def model_(self) -> ConditionalDPP:
        """The learned model as an estimator of scikit-learn's kind, which that of a file becomes when asked for."""
        from dpplearn.learning.conditional import ConditionalDPP

        model = self._trained.model
        if isinstance(model, ConditionalDPP):
            return model
        made = ConditionalDPP(self.prior_variance, rho=self.rho)
        for name, value in vars(model).items():
            setattr(made, name, value)
        return made


@cache
def bundled() -> Summarizer:
    """The model that comes with dpplearn, read once."""
    return Summarizer.load()


def summarize(
    given: Given,
    budget: Budget | None = None,
    unit: Unit | None = None,
    *,
    model: str | os.PathLike[str] | Summarizer | None = None,
    encoding: str | None = None,
    language: str | None = None,
    **options: Any,
) -> Summary:
    """A summary of texts, paths, bytes or a Cluster, in one call; options as in `Summarizer.summarize`.

    Parameters
    ----------
    given : str, path, bytes, Document, several of these, or a Cluster
        As in `Summarizer.summarize`.
    budget, unit : optional
        As there: `budget="20%"` is a fifth of the words; without both, what suits the length of the texts, or what
        `model` was trained for.
    model : Summarizer or path, optional
        The model for any language that comes with dpplearn by default.
    encoding, language : str, optional
        Of files; of the texts, for a warning where the model is for another.

    Examples
    --------
    >>> print(summarize("A storm sank ten boats on Friday. Nobody was hurt. Shops were shut.", budget=7))
    A storm sank ten boats on Friday.
    """
    own = model if isinstance(model, Summarizer) else bundled() if model is None else Summarizer.load(model)
    return own.summarize(as_cluster(given, encoding=encoding, language=language), budget, unit, **options)
