"""What SECURITY.md promises of the library: nothing is sent or fetched, and loading a model runs no code."""

import subprocess
import sys

SCRIPT = """
import sys
heard = []
WATCHED = ("socket.", "urllib.", "subprocess.", "os.exec", "os.system", "os.posix_spawn")
sys.addaudithook(lambda event, _: heard.append(event) if event.startswith((*WATCHED, "pickle.")) else None)
from dpplearn.summarize import Cluster, Summarizer
model = Summarizer.load()
model.save(sys.argv[1])
model = Summarizer.load(sys.argv[1])
print(sorted(set(heard)))
model.summarize(Cluster.example(), 50, "words")
print(sorted({event for event in heard if event.startswith(WATCHED)}))
"""


def test_loading_unpickles_nothing_and_a_summary_opens_no_connection_and_starts_no_process(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "model.json")]
    heard = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert heard == ["[]", "[]"]
