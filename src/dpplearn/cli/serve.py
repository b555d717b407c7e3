"""dpplearn serve: the page and the JSON API of the summarizer."""

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
from dpplearn.cli import say, stoppable
from dpplearn.cli.options import JOBS, MODEL, Command


@click.command(name="serve", cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@MODEL
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A name it is reached by; may be repeated.")
@click.option("--token", envvar="DPPLEARN_TOKEN", metavar="TEXT", help="Clients must send it.  [env: DPPLEARN_TOKEN]")
@JOBS
def serve_command(
    host: str, port: int, names: tuple[str, ...], token: str | None, open_browser: bool, **given: Any
) -> None:
    """Serve the page and the JSON API until Ctrl-C.

    The server listens at 127.0.0.1, where only this machine reaches it, unless --host says otherwise. It then needs
    --token, which whoever uses it must know, or --allow-host with each name it is reached by. It does not encrypt: put
    a proxy that does in front of it where others can reach it.
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
        url = address(listener, host)
        if not (is_loopback(host) or names or token):
            raise click.UsageError(
                f"{host} may be reached from other machines. Say who may use the server: --token TEXT, for whoever "
                "knows it (or the variable DPPLEARN_TOKEN), or --allow-host NAME, for whoever reaches it by that name."
            )
        if is_loopback(host) or names:
            own = urlsplit(url).netloc.rpartition(":")[0]  # 127.0.0.2 is loopback, too
            given["hosts"] = tuple(dict.fromkeys([*LOOPBACK, own, *names]))
        else:
            given["hosts"] = None  # a page elsewhere may give it a name, but does not know the token
        if not (is_loopback(host) or token):
            say(f"Warning: whoever reaches {host} may use the server. --token would ask who it is.")
        app = create_app(Settings(**given))
        with say_when_compiling(lambda: None), stoppable("Ended before it was ready."):  # which nobody waits for

            def ready() -> None:
                say(f"Ready at {url} (Ctrl-C ends it).")
                if open_browser:  # one of the terminal comes back only when it is left
                    Thread(target=webbrowser.open, args=(url,), daemon=True).start()

            serve(app, listener, ready)
        say("Ended.")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(host: str, port: int) -> socket.socket:
    """A socket at the address, or why there is none."""
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # :: takes IPv4 too
        return socket.create_server(where, family=family, backlog=2048, dualstack_ipv6=both)
    except OSError as error:
        raise ValueError(
            f"Cannot listen at port {port} of {host}: {error.strerror}. Give another --port (0: any that is free), or "
            "as --host an address or a name of this machine."
        ) from None


def address(listener: socket.socket, host: str) -> str:
    """What to type into a browser."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"
