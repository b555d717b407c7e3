"""The page and the JSON API of the summarizer: `dpplearn serve`, or `create_app` for a server of your own."""

from dpplearn.web.app import create_app
from dpplearn.web.settings import Settings

__all__ = ["Settings", "create_app"]
