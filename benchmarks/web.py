"""Measures the server under load: many clients move the sliders of the page at once, over loopback."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

import numpy as np
import psutil

from benchmarks.timing import CLI, main


@dataclass
class Connection:
    """A minimal HTTP/1.1 client with keep-alive, light because it shares the machine with the server."""

    host: str
    port: int
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, str], bytes]:
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self.streams
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Length: {len(data)}\r\n"
        kind = "" if body is None else "Content-Type: application/json\r\n"
        writer.write(f"{head}{kind}\r\n".encode() + data)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        answer = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), headers, answer

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


@dataclass
class Load:
    """The answers that clients got, and the memory that the server took."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    health: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    took: float = 0.0


def options(rng: random.Random) -> dict:
    """Random positions of the sliders, and sometimes a sentence to include or exclude."""
    body: dict = {"budget": rng.randrange(50, 201, 5), "diversity": rng.randrange(21) / 20}
    if rng.random() < 0.2:
        body["include" if rng.random() < 0.5 else "exclude"] = [rng.randrange(74)]
    return body


async def client(address: tuple[str, int], cluster: str, seed: int, end: float, load: Load) -> None:
    """Select again and again; wait when the server says so."""
    rng, connection = random.Random(seed), Connection(*address)
    while time.monotonic() < end:
        start = time.perf_counter()
        status, headers, _ = await connection.request("POST", f"/api/v1/clusters/{cluster}/select", options(rng))
        load.statuses[status] += 1
        if status == 200:
            load.seconds.append(time.perf_counter() - start)
        elif status == 429:
            connection.close()  # the server ends connections that are idle for some seconds
            await asyncio.sleep(int(headers["retry-after"]) * (0.5 + rng.random()))
    connection.close()


async def watch(address: tuple[str, int], process: psutil.Process, end: float, load: Load) -> None:
    """Request the health ten times a second, and note the memory."""
    connection = Connection(*address)
    while time.monotonic() < end:
        start = time.perf_counter()
        status, _, _ = await connection.request("GET", "/api/v1/health")
        load.health.append(time.perf_counter() - start)
        assert status == 200, f"/health answered {status}"
        load.memory.append(process.memory_info().rss / 2**20)
        await asyncio.sleep(0.1)
    connection.close()


async def press(address: tuple[str, int], process: psutil.Process, clients: int, seconds: float) -> Load:
    """Post the example cluster, and let clients select from it for some seconds."""
    connection, load = Connection(*address), Load()
    _, _, answer = await connection.request("GET", "/api/v1/example")
    documents = json.loads(answer)["documents"]
    status, _, answer = await connection.request("POST", "/api/v1/clusters", {"documents": documents})
    assert status == 201, answer
    cluster, start = json.loads(answer)["id"], time.monotonic()
    end = start + seconds
    crowd = [client(address, cluster, seed, end, load) for seed in range(clients)]
    await asyncio.gather(watch(address, process, end, load), *crowd)
    load.took = time.monotonic() - start
    connection.close()
    return load


async def wait_until_warm(address: tuple[str, int]) -> None:
    """Wait until the server, once it is ready, has compiled or loaded its loops."""
    connection = Connection(*address)
    while not json.loads((await connection.request("GET", "/api/v1/health"))[2])["warm"]:
        await asyncio.sleep(0.5)
    connection.close()


UPLOAD = 31_000_000  # bytes of a text that is read and then refused for its length, so that no cluster is kept
HEAD = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'


def upload(address: tuple[str, int]) -> None:
    """Upload a file of nearly the largest size; any answer will do, 429 too."""
    connection = HTTPConnection(*address, timeout=120)
    body = HEAD + b"The dam broke in the night. " * (UPLOAD // 28) + b"\r\n--x--\r\n"
    with closing(connection), suppress(ConnectionError):  # if it is refused before all of it was sent
        connection.request("POST", "/api/v1/clusters", body, {"Content-Type": "multipart/form-data; boundary=x"})
        connection.getresponse().read()


def memory_of(process: psutil.Process) -> float:
    """MiB of the server and the processes that it started; pages that they share are counted once."""
    size = 0
    for member in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            size += member.memory_full_info().pss
    return size / 2**20


def uploads(address: tuple[str, int], process: psutil.Process, rounds: int = 3) -> list[dict]:
    """The memory before and after several rounds of sixteen uploads at once."""
    before = memory_of(process)
    for _ in range(rounds):
        with ThreadPoolExecutor(16) as crowd:
            for _ in range(16):
                crowd.submit(upload, address)
    time.sleep(2.0)
    case = f"{rounds} times 16 uploads of 31 MB at once: memory of all processes"
    return [
        {"case": f"{case}, before", "value": before, "unit": "MiB"},
        {"case": f"{case}, after", "value": memory_of(process), "unit": "MiB", "target": "< 500"},
    ]


def percentile(values: list[float], q: float) -> float:
    return float(np.percentile(values, q))


def load_figures(load: Load, clients: int, seconds: float) -> list[dict]:
    case = f"{clients} clients for {seconds:g} s"
    errors = sum(count for status, count in load.statuses.items() if status not in (200, 429))
    quarter = max(len(load.memory) // 4, 1)
    growth = float(np.median(load.memory[-quarter:]) - np.median(load.memory[quarter : 2 * quarter] or load.memory))
    return [
        {"case": f"{case}: select, p50", "value": 1e3 * percentile(load.seconds, 50), "unit": "ms"},
        {"case": f"{case}: select, p95", "value": 1e3 * percentile(load.seconds, 95), "unit": "ms"},
        {"case": f"{case}: selections per second", "value": len(load.seconds) / load.took, "unit": "/s"},
        {"case": f"{case}: answered 429, with Retry-After", "value": load.statuses[429], "unit": "requests"},
        {"case": f"{case}: other errors", "value": errors, "unit": "requests", "target": "0"},
        {"case": f"{case}: health, p95", "value": 1e3 * percentile(load.health, 95), "unit": "ms"},
        {"case": f"{case}: memory at the end", "value": load.memory[-1], "unit": "MiB"},
        {"case": f"{case}: growth of memory from the second quarter to the last", "value": growth, "unit": "MiB"},
    ]


def run(quick: bool = False) -> dict:
    seconds = 3.0 if quick else 30.0
    process = subprocess.Popen([*CLI, "serve", "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("Ready at "))
        url = urlsplit(line.split()[2])
        address, server = (str(url.hostname), int(url.port or 80)), psutil.Process(process.pid)
        asyncio.run(wait_until_warm(address))
        alone = asyncio.run(press(address, server, 1, 3.0)).seconds
        figures = [
            {"case": "1 client: select, p50", "value": 1e3 * percentile(alone, 50), "unit": "ms"},
            {"case": "1 client: select, p95", "value": 1e3 * percentile(alone, 95), "unit": "ms", "target": "< 100"},
        ]
        for clients in (50, 200):
            load = asyncio.run(press(address, server, clients, seconds))
            figures += load_figures(load, clients, seconds)
        figures += uploads(address, server)
        process.terminate()
        assert process.wait(60) == 0, "the server did not end after SIGTERM"
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
    notes = [
        "`dpplearn serve` runs on the same machine as the clients, which use part of its cores. Each client posts "
        "`select` on the example cluster (8 documents, 74 sentences) with the default decoder and random positions of "
        "the sliders; a fifth of the requests include or exclude a sentence. It waits for each answer before the next "
        "request, and after a 429 for as long as Retry-After says.",
        "Times run from sending a request to the end of its answer, and include the wait in the queue, but no 429s.",
    ]
    return {"name": "web", "title": "The server under load", "rows": [], "figures": figures, "notes": notes}


if __name__ == "__main__":
    main(run)
