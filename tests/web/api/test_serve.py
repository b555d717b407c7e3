"""`dpplearn serve` as a process: it says when it is ready, ends when told, and finishes what is running."""

import re
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest

COMMAND = [sys.executable, "-c", "from dpplearn.cli import main; main()", "serve"]


class Served:
    """The process, its address, and what it said."""

    def __init__(self, *arguments, env=None):
        command = [*COMMAND, "--port", "0", *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
        self.said, self.url = [], None
        for line in self.process.stderr:
            self.said.append(line)
            ready = re.search(r"Ready at (\S+)", line)
            if ready:
                self.url = ready[1]
                break

    def __enter__(self):
        assert self.url, "".join(self.said)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.stderr.close()
        self.process.wait()

    def end(self, number):
        """Send a signal; the exit code, and all that was said."""
        self.process.send_signal(number)
        self.said += self.process.stderr.readlines()
        return self.process.wait(), "".join(self.said)


def many_sentences(n):
    words = [f"word{i * 7919 % 1009} storm{i * 31 % 127} river{i}" for i in range(n)]
    return [{"text": " ".join(f"The {word} rose again." for word in words[a : a + 100])} for a in range(0, n, 100)]


def test_sigterm_finishes_what_is_running():
    with Served("--jobs", "1") as served, httpx.Client(base_url=served.url, timeout=300) as client:
        answers = []
        slow = threading.Thread(  # a second or more of eigenvectors
            target=lambda: answers.append(client.post("/api/v1/clusters", json={"documents": many_sentences(700)}))
        )
        slow.start()
        while not client.get("/api/v1/health").json()["running"] and slow.is_alive():
            time.sleep(0.01)
        code, said = served.end(signal.SIGTERM)
        slow.join()
    assert answers[0].status_code == 201
    assert len(answers[0].json()["sentences"]) == 700
    assert code == 0
    assert said.rstrip().endswith("Ended.")
    assert "Traceback" not in said
    with pytest.raises(httpx.ConnectError):
        httpx.get(served.url)


def test_the_extra_is_named_where_it_is_missing():
    code = "import sys; sys.modules['fastapi'] = None; from dpplearn.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", code, "serve"], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "pip install 'dpplearn[web]'" in found.stderr
    assert "Traceback" not in found.stderr


def status(served, host, token=None):
    headers = {"Host": host} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    return httpx.get(served.url + "api/v1/models", headers=headers).status_code


def test_names_that_are_allowed_are_answered_and_others_are_not():
    with Served("--host", "0.0.0.0", "--allow-host", "My.Example", "--allow-host", "other.example") as served:
        known = ("my.example", "MY.example:8000", "other.example", "localhost")
        assert [status(served, host) for host in known] == [200] * 4
        assert status(served, "evil.example") == 400
        code, said = served.end(signal.SIGTERM)
    assert code == 0
    assert "Warning" in said
