"""Cuts the network: connections and name lookups that leave this machine raise an error.

tests/conftest.py imports it, and puts this folder on PYTHONPATH, so that each Python that a test starts imports it too.
"""

import socket
from functools import wraps

LOCAL = ("localhost", "", "0.0.0.0", "::", "::1", socket.gethostname(), None)


class NetworkCutError(RuntimeError):
    """Not an OSError, which libraries catch when they work without a network."""


def check_local(host):
    host = host.decode() if isinstance(host, bytes) else host
    if host not in LOCAL and not host.startswith("127."):
        raise NetworkCutError(f"Tests run without a network, but this one asked for {host}. Nothing may be fetched.")


def cut(owner, name, host_of):
    """Check the host that `host_of` finds in the arguments of a function before each call."""
    function = getattr(owner, name)

    @wraps(function)
    def checked(*args, **kwargs):
        check_local(host_of(*args, **kwargs))
        return function(*args, **kwargs)

    if not hasattr(function, "__wrapped__"):  # only once
        setattr(owner, name, checked)


def peer(connection, address):
    """The host of a stream; to connect a datagram socket sends nothing, and Dask finds its own address that way."""
    return address[0] if isinstance(address, tuple) and connection.type == socket.SOCK_STREAM else None


cut(socket.socket, "connect", peer)
cut(socket.socket, "connect_ex", peer)
cut(socket, "getaddrinfo", lambda host, *_, **__: host)
