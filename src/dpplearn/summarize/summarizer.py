"""The summarizer of section 7: it learns what good extracts look like, then chooses the best set of sentences."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpplearn._checks import IntArray, Items, check_choice, check_subset, warn_user
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress
from dpplearn.decoding.limits import check_diversity
from dpplearn.decoding.registry import check_decoder
from dpplearn.dpp import DPP
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.documents import TextInput, as_cluster
from dpplearn.summarize.corpora.reading import Corpus
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.about import Question, check_about
from dpplearn.summarize.model.choice import CHRONOLOGICAL, ORDERS, SAMPLES, Decision
from dpplearn.summarize.model.oracle import extracts
from dpplearn.summarize.model.prepared import Prepared, first_choice, language_note
from dpplearn.summarize.model.settings import SummarizerSettings, Trained, load_summarizer, save_summarizer
from dpplearn.summarize.model.split_cluster import EXACT, SplitCluster
from dpplearn.summarize.model.training import train
from dpplearn.summarize.text.units import AUTO, Budget, Unit, budget_in_unit, check_length

if TYPE_CHECKING:
    from dpplearn.learning.conditional import ConditionalDPP

FITTED = ("_trained", "model_", "theta_", "theta_std_", "rho_", "features_", "language_", "training_")


class Summarizer(SummarizerSettings):
    """Extractive summaries of document clusters by a learned DPP.

    Parameters
    ----------
    features : {"general", "paper"}
        Quality features of sentences, see `SentenceFeatures`: for any kind of text, or those of section 7.2.
    decoder : {"consensus", "greedy", "sampled", "local", "exact"}
        How the set of sentences is found: the set that agrees most with those of the model; Algorithm 2;
        the most probable of 10^6 samples; or another of `dpplearn.decoding`. The consensus decoder averages over
        sets, and learns from one extract for each reference. The others look for the one best set, and learn from one
        extract for all references together, as in the paper.
    budget, unit : float and str or callable
        Length of the summaries to learn from, and of those that `dpplearn evaluate` scores: "bytes", "words",
        "sentences", "tokens", or a function of a text. `summarize` takes a length of its own.
    rho : float
        Constant similarity feature (section 7.2): more makes all sentences more alike, so that they repel each other
        more.
    prior_variance : float
        Variance of the Gaussian prior on the weights.
    language : str, optional
        Language of the clusters, English by default. English words are stemmed as ROUGE does it where summaries are
        compared; those of other languages are not. With "any" each cluster has its own language, as in the model that
        comes with dpplearn.
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
        As given, or as the clusters say.
    training_ : dict
        How many clusters, documents and sentences were learned from, and whether the fit converged.

    Examples
    --------
    >>> from dpplearn.summarize import Cluster, Summarizer
    >>> summary = Summarizer.load().summarize(Cluster.example(), budget=50, unit="words")
    >>> len(summary.text.split()) <= 50
    True
    """

    _bundled = False  # whether it is the model that comes with dpplearn, which is for texts of any length

    def fit(
        self,
        clusters: Iterable[Cluster] | Corpus,
        *,
        n_jobs: int | None = 1,
        backend: Any = None,
        progress: bool | Progress = False,
        work: str | os.PathLike[str] | None = None,
        anew: bool = False,
        out: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from clusters with reference summaries: features, oracle extracts, weights.

        Parameters
        ----------
        clusters : list of Cluster, or Corpus
            Each with at least one reference. A corpus (`open_corpus`) is read piece by piece: memory does not grow
            with it.
        n_jobs, backend, progress
            As in `ConditionalDPP`, for every stage. The result does not depend on them.
        work : path, optional
            A folder for intermediate files, which every worker can reach. A fit that was stopped continues from it,
            and a finished one removes it. By default a temporary folder.
        anew : bool
            Whether a folder with the work of another fit is emptied. By default that is an error.
        out : path, optional
            Where to save the model before the folder is removed, so that after an error the next fit continues.
        """
        if isinstance(clusters, Cluster):
            raise TypeError("Training needs a list of clusters, found one: pass [cluster].")
        if isinstance(clusters, str | os.PathLike):
            raise TypeError(f"Training needs clusters, found a path: pass open_corpus({str(clusters)!r}).")
        training_clusters = clusters if isinstance(clusters, Corpus) else [*clusters]
        options: dict[str, Any] = {"n_jobs": n_jobs, "backend": backend, "progress": progress}
        return self._keep(train(self.settings, training_clusters, work=work, anew=anew, out=out, **options))

    def oracle_items(self, split: SplitCluster, budget: float | None = None, unit: Unit | None = None) -> IntArray:
        """The extract of a cluster that training aims at (section 7.1), or that of another length."""
        length: dict[str, Any] = {name: x for name, x in (("budget", budget), ("unit", unit)) if x is not None}
        settings = replace(self.settings, language=getattr(self, "language_", self.language), **length)
        return extracts(split, settings, [split.cluster.references])[0]

    def dpp(self, cluster: TextInput | SplitCluster) -> DPP:
        """The DPP over a cluster's sentences, `model_.dpp` of its items: L_ij = q_i S_ij q_j."""
        return self.prepare(cluster).dpp

    def prepare(
        self,
        cluster: TextInput | SplitCluster | Prepared,
        *,
        keep_all: bool = False,
        compress: bool = False,
        about: str | None = None,
    ) -> Prepared:
        """Prepare a cluster for several summaries, so that it is split and featurized once.

        Options are those of `summarize`. With `compress` the shorter forms of a sentence follow it. Of more than
        3,000 candidates a first choice keeps 3,000, which are `.split.sentences` of the result.

        Examples
        --------
        >>> from dpplearn.summarize import Cluster, Summarizer
        >>> summarizer = Summarizer.load()
        >>> prepared = summarizer.prepare(Cluster.example())
        >>> [len(summarizer.summarize(prepared, budget, "sentences").sentences) for budget in (1, 2)]
        [1, 2]
        """
        features, model, language, _ = self._trained
        about = None if about is None else check_about(about)
        if isinstance(cluster, SplitCluster | Prepared) and keep_all:
            raise ValueError("keep_all must be given where a cluster is split, and this one was split already.")
        if isinstance(cluster, Prepared):
            if cluster.model is not model:
                raise ValueError("This cluster was prepared by another summarizer, or before fit. Call prepare again.")
            if compress and not cluster.compressed:
                raise ValueError("This cluster was prepared without shorter forms: call prepare(..., compress=True).")
            return cluster.about(about)
        if isinstance(cluster, SplitCluster):
            split = cluster
        else:
            cluster = as_cluster(cluster)
            if note := language_note(cluster, language):
                advice = "(dpplearn train --language NAME, or Summarizer(language=NAME).fit) and use that one."
                warn_user(f"{note} Train a model on clusters in that language {advice}")
            split = features.read(cluster, keep_all=keep_all)
        language = split.cluster.read_as(language)
        split = features.with_forms(split, language) if compress and split.forms is None else split
        compressed, question = compress or split.forms is not None, None if about is None else Question.of(split, about)
        if len(split) > EXACT:
            first = first_choice(split, model, EXACT, lift=0.0 if question is None else question.lift)
            split, question = split.only(first), None if question is None else question.only(first)
        return Prepared(split, model, language, question, compressed)

    def summarize(
        self,
        cluster: TextInput | SplitCluster | Prepared,
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

        A budget is a limit: a sentence is taken only if the model finds it worth having at this length
        (`dpplearn.summarize.model.choice`). A budget in sentences is a number: the summary has that many, as far as
        there are sentences that differ. It is never empty when a sentence fits, and never over the budget. When no
        sentence fits, the best one is cut at the limit, and `note` says so.

        Parameters
        ----------
        cluster : Cluster, str, path, bytes, Document, or several of these
            Or the result of `prepare`. A string is a path if such a file or folder exists, else a text; see
            `dpplearn.summarize.corpora.documents.as_cluster`.
        budget : number or str, optional
            Such as 100, "20%" of the text, or "auto", a length that suits the text: about 100 words for a cluster of
            news, growing with the cube root of the words, at least 60 but at most a third of them. A share and "auto"
            always have room for one sentence.
            Default: that of the model's training; "auto" for the model that comes with dpplearn, or in another unit.
        unit : str or callable, optional
            Default: that of the model for a number, else words.
        decoder : str, optional
            Instead of the summarizer's own.
        diversity : float
            0 is quality alone, 1 similarity alone, 0.5 the learned model.
        include, exclude : item numbers, optional
            Sentences that must be in or out, as numbered in `prepare(cluster).split.sentences`.
        n_samples : int
            Number of sets drawn by the decoder "sampled".
        fill : bool
            Whether the decoder fills the budget with whatever fits, as Algorithm 2 and the paper's sampling do, and
            chooses any sentence as the first.
        keep_all : bool
            Which sentences are candidates, as in `Cluster.sentences`.
        about : str, optional
            A question or a few words that the summary is to be about. Relevant sentences gain quality
            (`dpplearn.summarize.model.about`), also in the first choice from a very long text, unless that was
            prepared.
        order : {"chronological", "source", "importance"}
            Order of the sentences: documents by date where dates are known; as in the sources; or by what each adds.
        compress : bool
            Whether shorter forms of sentences, made by dropping spans, are candidates too
            (`dpplearn.summarize.text.short_forms`). At most one form of each sentence is chosen. `full` of a chosen
            form is the whole sentence, and `dropped` has the spans.
        annotate : bool
            Whether brackets add what the document of a sentence says of a surname that nobody introduced,
            "[Vincent] Cochetel", and, where documents are of several days, the dates of its time words, "Thursday [22
            October]". In news, "today" and the like may be left out instead. In English texts only.
        """
        decoder = check_decoder(self.decoder if decoder is None else decoder)
        diversity, order = check_diversity(diversity), check_choice(order, "order", ORDERS)
        budget, unit = self.default_length(budget, unit)
        with blas_threads(0):  # for small matrices a second thread gains little, and waits long on a busy machine
            prepared = self.prepare(cluster, keep_all=keep_all, compress=compress, about=about)
            included = check_subset(include, prepared.n, "include")
            excluded = check_subset(exclude, prepared.n, "exclude")
            allowed = prepared.allowed(included, excluded)
            best = int(np.lexsort((prepared.dpp.quality, prepared.split.alone, allowed))[-1])
            texts = prepared.split.annotated_texts if annotate else prepared.split.texts
            how: dict[str, Any] = {"diversity": diversity, "order": order, "fill": fill, "annotate": annotate}
            how |= {"rng": self.random_state, "n_samples": n_samples}
            size = budget_in_unit(budget, unit, prepared.split.full_texts, texts[best])
            return Summary.of(Decision(prepared, decoder, size, unit, included, excluded, allowed, **how))

    def default_length(self, budget: Budget | None = None, unit: Unit | None = None) -> tuple[Budget, Unit]:
        """Budget and unit of a summary, checked; what is None is what suits the model."""
        if budget is None:
            by_model = not self._bundled and unit in (None, self.unit)
            budget, unit = (self.budget, self.unit) if by_model else (AUTO, unit or "words")
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
        summarizer = cls(**settings.get_params())._keep(trained)
        summarizer._bundled = path is None
        return summarizer

    def _keep(self, trained: Trained) -> Self:
        self._trained, model = trained, trained.model
        self.features_, self.language_, self.training_ = trained.features, trained.language, trained.training
        self.theta_, self.theta_std_, self.rho_ = model.theta_, model.theta_std_, model.rho_
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A fit sets these attributes."""
            if name not in FITTED:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            from sklearn.exceptions import NotFittedError  # imported late: scikit-learn takes longer than a summary

            raise NotFittedError("This Summarizer is not fitted yet: call fit(clusters), or Summarizer.load().")

    @property
    def model_(self) -> ConditionalDPP:
        """The learned model as a scikit-learn estimator; one that was read from a file becomes that here."""
        from dpplearn.learning.conditional import ConditionalDPP

        model = self._trained.model
        if isinstance(model, ConditionalDPP):
            return model
        estimator = ConditionalDPP(self.prior_variance, rho=self.rho)
        for name, value in vars(model).items():
            setattr(estimator, name, value)
        return estimator


bundled = cache(Summarizer.load)  # the model that comes with dpplearn, read once


def summarize(
    texts: TextInput,
    budget: Budget | None = None,
    unit: Unit | None = None,
    *,
    model: str | os.PathLike[str] | Summarizer | None = None,
    encoding: str | None = None,
    language: str | None = None,
    **options: Any,
) -> Summary:
    """A summary of texts, paths, bytes or a Cluster, in one call; options as in `Summarizer.summarize`.

    `model` is a Summarizer or the path of a model file, by default the model for any language that comes with dpplearn.
    `encoding` is that of files, `language` that of the texts, for a warning where the model is for another. Without a
    budget the summary has a length that suits the texts, or the one that `model` was trained for.

    Examples
    --------
    >>> print(summarize("A storm sank ten boats on Friday. Nobody was hurt. Shops were shut.", budget=7))
    A storm sank ten boats on Friday.
    """
    summarizer = model if isinstance(model, Summarizer) else bundled() if model is None else Summarizer.load(model)
    return summarizer.summarize(as_cluster(texts, encoding=encoding, language=language), budget, unit, **options)
