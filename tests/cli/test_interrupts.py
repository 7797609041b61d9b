"""Ctrl-C: one word and exit code 130, also while LLVM compiles or a kernel is executed, here and in workers; nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import indent

# One call into LLVM, of some half a minute.
IN_LLVM = """
import sys
import llvmlite.binding as llvm
from warploom.base.files import replace_file
from pathlib import Path

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
lines = ["define i64 @f(i64 %a, i64 %b) {", "%v0 = add i64 %a, %b", "%v1 = xor i64 %v0, %a"]
lines += [f"%v{i} = {'mul' if i % 3 else 'add'} i64 %v{i - 1}, %v{i - 2 if i % 7 else i // 2}" for i in range(2, 30_000)]
module = llvm.parse_assembly("\\n".join([*lines, "ret i64 %v29999", "}"]))
machine = llvm.Target.from_default_triple().create_target_machine(opt=3)
with replace_file(Path(__file__).with_name("written.txt")):
    print("begun", file=sys.stderr, flush=True)
    machine.emit_object(module)
"""
# What a user's policy file needs, and what only workers do.
POLICY = """
import multiprocessing
from typing import NamedTuple
from warploom.kit import policy

@policy
class Idle(NamedTuple):
    CHOICE, NAME, SOURCE = "gating", "idle-for-interrupts", "a test"

if multiprocessing.parent_process() is not None:
"""
ENDLESS = """
.version 6.4
.target sm_75
.address_size 64
.visible .entry endless() {
again:
bra again;
}
"""


def interrupted(process: subprocess.Popen[str], begun: str) -> tuple[int, str, float]:
    """What a process answers to Ctrl-C once it has said something: exit code, what else it said, seconds."""
    assert process.stderr is not None
    while (line := process.stderr.readline()) and begun not in line:
        pass
    time.sleep(0.5)
    sent = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all processes of the group
    try:
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()  # nothing is left of a test that fails
    return process.returncode, said, time.monotonic() - sent


def started(*words: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "warploom", *words],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell in the background has it ignored
    )


def test_in_a_call_into_llvm(tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(IN_LLVM)
    status, said, seconds = interrupted(started("designs", "--policy", str(tmp_path / "policy.py")), "begun")
    assert (status, said) == (130, "interrupted\n") and seconds < 5
    assert [file.name for file in tmp_path.iterdir()] == ["policy.py"]


def test_while_code_is_compiled(tmp_path: Path) -> None:
    words = ("run", "vectoradd", "--size", "tiny", "--emulate-only")
    status, said, seconds = interrupted(started(*words, WARPLOOM_CACHE=str(tmp_path)), "compiling the emulator")
    assert (status, said) == (130, "interrupted\n") and seconds < 5


def test_while_workers_compile(tmp_path: Path) -> None:
    words = ("compare", "--jobs", "2", "--size", "tiny", "--workloads", "vectoradd,bfs", "--sms", "1")
    process = started(*words, WARPLOOM_CACHE=str(tmp_path))
    status, said, seconds = interrupted(process, "compiling the emulator")
    assert status == 130 and seconds < 5
    assert [line for line in said.splitlines() if not line.startswith("compiling the emulator, about ")] == ["interrupted"]


def test_while_a_worker_is_in_a_call_into_llvm(tmp_path: Path) -> None:
    """Workers load the user's policies, too: this one compiles there, and only there."""
    (tmp_path / "policy.py").write_text(POLICY + indent(IN_LLVM, "    "))
    words = ("compare", "--jobs", "2", "--size", "tiny", "--workloads", "vectoradd,bfs", "--sms", "1")
    status, said, seconds = interrupted(started(*words, "--policy", str(tmp_path / "policy.py")), "begun")
    assert status == 130 and seconds < 5
    assert said.replace("begun", "").split() == ["interrupted"]  # both workers begin
    assert [file.name for file in tmp_path.iterdir()] == ["policy.py"]


def test_in_a_launch_that_does_not_end(tmp_path: Path) -> None:
    (tmp_path / "endless.ptx").write_text(ENDLESS)
    words = ("run", str(tmp_path / "endless.ptx"), "--grid", "1", "--block", "32", "--emulate-only")
    process = started(*words, "--max-instructions", str(1 << 60))
    status, said, seconds = interrupted(process, "executing kernel endless")
    assert (status, said) == (130, "interrupted\n") and seconds < 5
