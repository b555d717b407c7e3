"""Memory that a process may take: that of its control group, where it has less than the machine."""

import os

import pytest

from dpplearn._run.memory import memory_limit

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
pytestmark = pytest.mark.skipif(MACHINE is None, reason="the system does not say")


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("group", "files"),
    [
        ("0::/\n", {"memory.max": "1000\n"}),  # inside a container
        ("0::/user/job\n", {"user/job/memory.max": "max\n", "user/memory.max": "1000\n"}),
        ("4:memory:/job\n0::/\n", {"memory/job/memory.limit_in_bytes": "1000\n"}),
        ("4:memory:/elsewhere\n", {"memory/memory.limit_in_bytes": "1000\n"}),
    ],
)
def test_the_limit_of_a_control_group(tmp_path, group, files):
    write(tmp_path, "proc/self/cgroup", group)
    for name, text in files.items():
        write(tmp_path, f"sys/fs/cgroup/{name}", text)
    assert memory_limit(tmp_path) == 1000


@pytest.mark.parametrize("text", [None, "max\n", f"{2**63 - 4096}\n"])
def test_without_a_limit_it_is_that_of_the_machine(tmp_path, text):
    if text is not None:
        write(tmp_path, "proc/self/cgroup", "0::/\n")
        write(tmp_path, "sys/fs/cgroup/memory.max", text)
    assert memory_limit(tmp_path) == MACHINE
