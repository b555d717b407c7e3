"""The adapters run with the network cut: no test here may reach another machine, or a server on this one."""

import socket

import pytest


@pytest.fixture(autouse=True)
def _cut_network(monkeypatch):
    def refuse(*_, **__):
        raise OSError("the network is cut")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
