"""The summarizer of section 7: learn what good extracts look like, then choose the best set of sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import resources
from typing import Any, Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray, Items, check_choice, check_jobs, check_subset
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress
from dpplearn.decoding import consensus, greedy_map, sampled_map
from dpplearn.dpp import DPP
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.mismatch import warn_unless_read
from dpplearn.summarize.experiments.baselines import Logistic
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.features import Featurized, SentenceFeatures
from dpplearn.summarize.model.oracle import ORACLES, paper_oracle, rouge_oracle
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.text.matching import match_words, normal_language
from dpplearn.summarize.text.units import Unit, check_budget, check_unit, costs, cut, joined_length, limit, measured

TARGETS = ("each", "all")
DECODERS = ("consensus", "greedy", "sample")
SAMPLES = 1_000_000  # sets that the decoder "sample" draws


class Summarizer:
    """Extractive summaries of document clusters by a learned DPP.

    Parameters
    ----------
    features : {"paper", "extended"}
        Quality features of sentences, see `SentenceFeatures`.
    decoder : {"consensus", "greedy", "sample"}
        How the set of sentences is found: the one that agrees most with sets drawn from the model; Algorithm 2;
        or the most probable of 10^6 samples.
    budget, unit : float and str or callable
        Length of the summaries to learn from and, by default, to make: "bytes", "words", "sentences", "tokens", or a
        function of a text.
    rho : float
        Constant similarity feature (section 7.2): more makes all sentences more alike, and repel each other more.
    prior_variance : float
        Of the Gaussian prior on the weights.
    language : str, optional
        English by default: words are stemmed as ROUGE does it where summaries are compared. For any other language
        they are not.
    oracle : {"rouge", "paper"}
        Which extracts to learn from, see `rouge_oracle` and `paper_oracle`.
    targets : {"each", "all"}, optional
        One extract for each reference, all of a cluster together counting as one example, or one extract for all
        references together, as in the paper. Default: "each" for the consensus decoder, which averages over sets, and
        "all" for the others, which look for the one best set.
    bigrams : float
        Share of word pairs in the agreement that consensus decoding maximizes; the rest is single words.
    splitter : callable, optional
        Text to a list of (start, end) offsets of sentences.
    random_state : int
        Seed of the decoders that draw samples.

    Examples
    --------
    >>> from dpplearn.summarize import Cluster, Summarizer
    >>> summary = Summarizer.load().summarize(Cluster.example(), budget=50, unit="words")
    >>> len(summary.text.split()) <= 50
    True
    """

    features_: SentenceFeatures
    theta_: FloatArray
    theta_std_: FloatArray
    rho_: float
    logistic_: Logistic | None  # the baselines LR+MMR and LR+DPP, trained on the same extracts

    def __init__(
        self,
        features: str = "paper",
        decoder: str = "consensus",
        budget: float = 665,
        unit: Unit = "bytes",
        rho: float = 0.3,
        prior_variance: float = 1.0,
        language: str | None = None,
        oracle: str = "rouge",
        targets: str | None = None,
        bigrams: float = 0.3,
        splitter: Any = None,
        random_state: int = 0,
    ) -> None:
        self.features = features
        self.decoder = check_choice(decoder, "decoder", DECODERS)
        self.unit = check_unit(unit)
        self.budget = check_budget(budget, self.unit)
        self.rho, self.prior_variance = float(rho), float(prior_variance)
        self.language = normal_language(language)
        self.oracle = check_choice(oracle, "oracle", ORACLES)
        self.targets = check_choice(
            targets if targets is not None else "each" if decoder == "consensus" else "all", "targets", TARGETS
        )
        if not 0.0 <= bigrams <= 1.0:
            raise ValueError(f"bigrams must be a share from 0 to 1, found {bigrams}.")
        self.bigrams = float(bigrams)
        self.splitter, self.random_state = splitter, random_state
        self.features_ = SentenceFeatures(features, splitter=splitter, unit=self.unit)
        self.training_: dict[str, Any] = {}
        self.logistic_ = None

    # Learning

    def fit(
        self,
        clusters: Sequence[Cluster],
        *,
        tune: bool = False,
        n_jobs: int | None = 1,
        backend: Any = None,
        verbose: bool | Progress = False,
    ) -> Self:
        """Learn from clusters with reference summaries: features, oracle extracts, weights.

        Parameters
        ----------
        clusters : list of Cluster
            Each with at least one reference.
        tune : bool
            Choose rho and the prior variance by held-out ROUGE-1 F, in five folds, instead of taking them as given.
        n_jobs, backend, verbose
            As in `ConditionalDPP`.
        """
        from dpplearn.summarize.model.training import train

        train(self, list(clusters), tune=tune, n_jobs=n_jobs, backend=backend, verbose=verbose)
        return self

    def oracle_items(self, read: Featurized, budget: float | None = None, unit: Unit | None = None) -> IntArray:
        """The extract of a cluster that training aims at (section 7.1), or that of another length."""
        budget, unit = self.budget if budget is None else budget, self.unit if unit is None else unit
        rule = rouge_oracle if self.oracle == "rouge" else paper_oracle
        references = [self.match_words(cut(reference, budget, unit)) for reference in read.cluster.references]
        sentences = [self.match_words(text) for text in read.texts]
        # of sentences with the same words only the first: a set with two of them has probability 0
        _, first = np.unique([" ".join(sorted(one)) for one in read.words], return_index=True)
        cost = np.full(len(sentences), np.inf)
        cost[first] = costs(read.texts, unit)[first]
        return rule(sentences, references, cost, limit(budget, unit))

    def training_targets(self, read: Featurized) -> list[IntArray]:
        """The extracts that a cluster is an example of: one for each reference, or one for all."""
        if self.targets == "all":
            return [self.oracle_items(read)]
        alone = [
            replace(read.cluster, references=[one], reference_ids=()) for one in read.cluster.references if one.strip()
        ]
        return [self.oracle_items(replace(read, cluster=cluster)) for cluster in alone]

    def match_words(self, text: str) -> list[str]:
        """The words by which texts are compared: ROUGE's stems for English, plain words otherwise."""
        return match_words(text, self.language)

    # Summaries

    def dpp(self, cluster: Cluster | Featurized) -> DPP:
        """The DPP over a cluster's sentences: L_ij = q_i S_ij q_j, q_i = exp(theta . f_i / 2)."""
        self._check_fitted()
        read = cluster if isinstance(cluster, Featurized) else self.features_.read(cluster)
        return DPP.from_quality(np.exp(read.F @ self.theta_ / 2), read.similarity(self.rho_))

    def prepare(self, cluster: Cluster | Featurized) -> Prepared:
        """All that summaries of a cluster have in common, so that many of them take one reading.

        Examples
        --------
        >>> from dpplearn.summarize import Cluster, Summarizer
        >>> summarizer = Summarizer.load()
        >>> ready = summarizer.prepare(Cluster.example())
        >>> [len(summarizer.summarize(ready, budget, "sentences").sentences) for budget in (1, 2)]
        [1, 2]
        """
        if isinstance(cluster, Cluster):
            warn_unless_read(cluster, self.language)
        return self._prepared(cluster)

    def _prepared(self, cluster: Cluster | Featurized | Prepared) -> Prepared:
        if not isinstance(cluster, Prepared):
            read = cluster if isinstance(cluster, Featurized) else self.features_.read(cluster)
            return Prepared(read, self.dpp(read), self.theta_, self.language, self.bigrams)
        if cluster.theta is not self.theta_:
            raise ValueError("This cluster was prepared by another summarizer, or before fit. Call prepare again.")
        return cluster

    def summarize(
        self,
        cluster: Cluster | Featurized | Prepared,
        budget: float | None = None,
        unit: Unit | None = None,
        *,
        decoder: str | None = None,
        diversity: float = 0.5,
        include: Items = (),
        exclude: Items = (),
        n_samples: int = SAMPLES,
    ) -> Summary:
        """The best set of the cluster's sentences that fits the budget.

        Never empty when a sentence fits, never over the budget; when no sentence fits, the best one is cut at the
        limit, and `note` says so.

        Parameters
        ----------
        cluster : Cluster
            Or what `prepare` made of it.
        budget, unit
            Default: those the model was trained for.
        decoder : str, optional
            Another than the summarizer's own.
        diversity : float
            0 is quality alone, 1 similarity alone, 0.5 the learned model.
        include, exclude : item numbers, optional
            Sentences that must be in or out, as numbered in `features_.read(cluster).sentences`.
        n_samples : int
            Sets drawn by the decoder "sample".
        """
        self._check_fitted()
        unit = self.unit if unit is None else check_unit(unit)
        budget = check_budget(self.budget if budget is None else budget, unit)
        decoder = self.decoder if decoder is None else check_choice(decoder, "decoder", DECODERS)
        options = {"diversity": diversity, "include": include, "exclude": exclude, "n_samples": n_samples}
        if isinstance(cluster, Cluster):
            warn_unless_read(cluster, self.language)
        with blas_threads(0):  # small matrices: a second thread gains little, and waits long on a busy machine
            return self._summarize(cluster, budget, unit, decoder, options)

    def _summarize(
        self,
        cluster: Cluster | Featurized | Prepared,
        budget: float,
        unit: Unit,
        decoder: str,
        options: dict[str, Any],
        overrun: float = 0.0,
    ) -> Summary:
        """As `summarize`; sampled and consensus sets may cost `overrun` more, for a scorer that trims (section 7.3)."""
        ready = self._prepared(cluster)
        read, dpp = ready.read, ready.dpp
        cost, bound = ready.costs(unit), limit(budget, unit)
        pinned = check_subset(options["include"], len(cost), "include")
        excluded = check_subset(options["exclude"], len(cost), "exclude")
        allowed = ready.allowed(pinned, excluded)
        options = {**options, "include": pinned, "exclude": ~allowed}
        note = ""
        items = np.empty(0, np.int64)
        if cost[allowed].min() <= bound + 1e-9 or pinned.size:
            items = np.sort(self._decode(ready, cost, bound, decoder, options, overrun))
        while items.size and joined_length([read.texts[i] for i in items], unit) > budget + overrun:
            loose = np.setdiff1d(items, pinned)  # a unit that counts joints too: the least of them goes
            if loose.size == 0:
                raise ValueError(f"The sentences to include are longer than {measured(budget, unit)} together.")
            items = np.setdiff1d(items, loose[dpp.quality[loose].argmin()])
        lines = [read.texts[i] for i in items]
        if not lines:
            best = int(np.where(allowed, dpp.quality, -1.0).argmax())
            items, lines = np.array([best]), [cut(read.texts[best], budget, unit)]
            note = f"No sentence fits {measured(budget, unit)}: the best one was cut."
        chosen = tuple(read.sentences[i] for i in items)
        size = joined_length(lines, unit)
        names = self.features_.names
        return Summary("\n".join(lines), chosen, size, budget, unit, note, items, ready, names, pinned, excluded)

    def _decode(
        self,
        ready: Prepared,
        cost: FloatArray,
        bound: float,
        decoder: str,
        options: dict[str, Any],
        overrun: float,
    ) -> IntArray:
        """Items that fit: by the decoder asked for, and by the greedy one where that finds none."""
        model = ready.kernel(options["diversity"])
        n_samples = options.pop("n_samples", SAMPLES)
        items: IntArray = np.empty(0, np.int64)
        if decoder == "consensus":
            items = consensus(
                model, cost, bound + overrun, utility=ready.agreement, min_cost=0.8 * bound, max_cost=1.2 * bound,
                rng=self.random_state, **options,
            ).subset  # fmt: skip
        elif decoder == "sample":
            # near the limit, as in the paper (660 to 680 bytes of 665, where it may run over), unless no sample is
            near = bound - overrun / 3 if overrun else 0.97 * bound
            for low in (near, 0.85 * bound, 0.0):
                found = sampled_map(
                    model, cost, bound + overrun, min_cost=low, tilt=True, n_samples=n_samples,
                    rng=self.random_state, **options,
                )  # fmt: skip
                if found.subset.size:
                    items = found.subset
                    break
        return items if items.size else greedy_map(model, cost, bound, **options).subset

    def summarize_many(
        self, clusters: Sequence[Cluster], budget: float | None = None, unit: Unit | None = None, *,
        n_jobs: int | None = None, **options: Any,
    ) -> list[Summary]:  # fmt: skip
        """A summary of each cluster, in order; options as in `summarize`."""
        with ThreadPoolExecutor(check_jobs(n_jobs)) as pool:
            return list(pool.map(lambda cluster: self.summarize(cluster, budget, unit, **options), clusters))

    def _check_fitted(self) -> None:
        if not hasattr(self, "theta_"):
            raise RuntimeError("This Summarizer is not trained yet: call fit(clusters), or Summarizer.load().")

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON: weights by name, bins, document frequencies. Reading it runs no code."""
        from dpplearn.summarize.model.modelfile import save_summarizer

        self._check_fitted()
        save_summarizer(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """Read a model that `save` wrote; without a path, the English one that comes with dpplearn."""
        from dpplearn.summarize.model.modelfile import load_summarizer

        if path is None:
            with resources.as_file(resources.files("dpplearn.summarize") / "data" / "english.json") as bundled:
                return load_summarizer(cls, bundled)
        return load_summarizer(cls, path)
