"""The web page and the JSON API of the summarizer, for `dpplearn serve` or, by `create_app`, for your own server."""

from dpplearn.web.app import create_app
from dpplearn.web.settings import Settings

__all__ = ["Settings", "create_app"]
