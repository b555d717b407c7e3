"""dpplearn serve: serves the summarizer as a web page and a JSON API."""

from __future__ import annotations

import ipaddress
import socket
import webbrowser
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import click

from dpplearn._checks import check_jobs
from dpplearn._run.progress import say_when_compiling
from dpplearn.cli import say
from dpplearn.cli.options import JOBS, MODEL, Command


@click.command(name="serve", cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free port.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@MODEL
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A name of the server; may be repeated.")
@click.option("--token", envvar="DPPLEARN_TOKEN", metavar="TEXT", help="Secret of clients.  [env: DPPLEARN_TOKEN]")
@JOBS
def serve_command(
    host: str, port: int, names: tuple[str, ...], token: str | None, open_browser: bool, **given: Any
) -> None:
    """Serve the page and the JSON API until Ctrl-C.

    Only this machine can reach the server, unless you set --host. Then it needs --token, a secret that its users must
    know, or --allow-host with each name it is reached by. It does not encrypt: if others can reach it, put a proxy that
    does in front of it.
    """
    try:
        from dpplearn.web import Settings, create_app
        from dpplearn.web.server import serve
        from dpplearn.web.settings import LOOPBACK
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"dpplearn serve needs the package {error.name}. Install it with: pip install 'dpplearn[web]'"
        ) from None

    given["token"] = token
    given["n_jobs"] = check_jobs(given.pop("jobs"))
    with bind(host, port) as listener:
        url = url_of(listener, host)
        if not (is_loopback(host) or names or token):
            raise click.UsageError(
                f"{host} may be reached from other machines. Set a secret that users must know (--token TEXT, or the "
                "variable DPPLEARN_TOKEN), or the names the server is reached by (--allow-host NAME)."
            )
        if is_loopback(host) or names:
            address = urlsplit(url).netloc.rpartition(":")[0]  # such as 127.0.0.2, which is loopback, too
            given["hosts"] = tuple(dict.fromkeys([*LOOPBACK, address, *names]))
        else:
            given["hosts"] = None  # any name will do: a foreign page does not know the token
        if not (is_loopback(host) or token):
            say(f"Warning: anyone who reaches {host} can use the server. With --token they need a secret.")
        app = create_app(Settings(**given))
        with say_when_compiling(lambda: None):  # it compiles in the background

            def ready() -> None:
                say(f"Ready at {url} (Ctrl-C ends it).")
                if open_browser:  # in a thread, because a text browser returns only when it is closed
                    Thread(target=webbrowser.open, args=(url,), daemon=True).start()

            serve(app, listener, ready)
        say("Ended.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens at the address; an error that says what to do if it cannot."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # :: takes IPv4 too
        return socket.create_server(place, family=family, backlog=2048, dualstack_ipv6=both)
    except OSError as error:
        advice = "Give another --port (0: any free one), or an address or name of this machine as --host."
        raise ValueError(f"Cannot listen on port {port} of {host}: {error.strerror}. {advice}") from None


def url_of(listener: socket.socket, host: str) -> str:
    """The address to type into a browser."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"
