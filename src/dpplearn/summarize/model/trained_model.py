"""What training found, as the attributes of whoever has it: weights, standard errors, the model as an estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from dpplearn._checks import FloatArray
from dpplearn._notebook import card
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.learning.summary import conditional_summary
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.training import Trained
from dpplearn.summarize.text.matching import ANY, match_words

if TYPE_CHECKING:
    from dpplearn.learning.conditional import ConditionalDPP


class TrainedModel:
    """Has a `Trained`, once it was fitted or read from a file."""

    features_: SentenceFeatures
    _predictor: ConditionalPredictor  # the model as it was fitted, or as its file has it
    language_: str | None
    training_: dict[str, Any]
    prior_variance: float
    features: str
    decoder: str

    def _keep(self, trained: Trained) -> Self:
        self.features_, self._predictor, self.language_, self.training_ = trained
        vars(self).pop("_estimator", None)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_predictor" or (name.endswith("_") and not name.startswith("_")):
            self._check_fitted()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _check_fitted(self) -> None:
        if "_predictor" not in vars(self):
            from sklearn.exceptions import NotFittedError  # what ConditionalDPP raises, imported where it is needed

            raise NotFittedError("This Summarizer is not fitted yet: call fit(clusters), or Summarizer.load().")

    def _repr_html_(self) -> str:
        """What a notebook shows: the settings, what it was trained on, and its weights."""
        if "_predictor" not in vars(self):
            return card(repr(self), facts={"state": "not fitted"})
        facts = {"features": self.features, "decoder": self.decoder, "language": self.language_ or "english"}
        known = ("clusters", "documents", "sentences")
        facts |= {f"trained on {name}": str(self.training_[name]) for name in known if name in self.training_}
        return replace(conditional_summary(self._predictor), title="Summarizer", facts=facts)._repr_html_()

    @property
    def model_(self) -> ConditionalDPP:
        """The learned model, an estimator of scikit-learn's kind; made of the file's weights when first asked for."""
        from dpplearn.learning.conditional import ConditionalDPP

        model = self._predictor
        if not isinstance(model, ConditionalDPP):
            if "_estimator" not in self.__dict__:
                self._estimator = ConditionalDPP(self.prior_variance, similarity=model.similarity_)
                for name, value in vars(model).items():
                    setattr(self._estimator, name, value)
            model = self._estimator
        return model

    @property
    def theta_(self) -> FloatArray:
        """Weights of the quality features."""
        return self._predictor.theta_

    @property
    def theta_std_(self) -> FloatArray:
        """Their standard errors."""
        return self._predictor.theta_std_

    @property
    def rho_(self) -> float:
        """Value of the constant similarity feature."""
        return self._predictor.rho_

    def match_words(self, text: str) -> list[str]:
        """The words by which texts are compared: ROUGE's stems for English, plain words otherwise."""
        self._check_fitted()
        return match_words(text, None if self.language_ == ANY else self.language_)
