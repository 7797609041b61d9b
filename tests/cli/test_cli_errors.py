"""Bad input on the command line: exit code 2, one sentence on standard error, nothing on standard output."""

import subprocess
import sys

import pytest

from warploom.cli.app import run_command


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "vectorad"], "did you mean 'vectoradd'"),
        (["run", "vectoradd", "--size", "huge"], "choose tiny, small, paper or chip"),
        (["run", "vectoradd", "--caches", "hot"], "choose cold or warm"),
        (["run", "vectoradd", "--design", "basline"], "did you mean 'baseline'"),
        (["run", "vectoradd", "--design", "gto + lrr"], "two policies for scheduler"),
        (["run", "vectoradd", "--machine", "gtx48"], "did you mean 'gtx480'"),
        (["run", "vectoradd", "--override", "l1.latency"], "write table.key=value"),
        (["run", "vectoradd", "--override", "l1.latenzy=4"], "did you mean 'latency'"),
        (["run", "vectoradd", "--override", "sm.warps_per_sm=many"], "must be a whole number"),
        (["run", "vectoradd", "--sms", "99"], "scaled to 1 to 15 SMs"),
        (["run", "vectoradd", "--policy", "gone.py"], "there is no such policy file"),
        (["run", "vectoradd", "--technology", "comon"], "did you mean 'common'"),
        (["run", "vectoradd", "--grid", "4"], "--grid"),
        (["run", "gone.cu", "--grid", "4", "--block", "32"], "gone.cu: there is no such file"),
        (["run", "gone.cu"], "gone.cu: there is no such file"),
        (["run", "vectoradd", "--colour"], "No such option"),
        (["run"], "name a workload, a set or a file"),
        (["compare", "--out", "picture.bmp"], "must end in .png"),
        (["compare", "--out", "no-such-folder/picture.png"], "there is no folder"),
        (["compare", "--designs", "baseline,baseline"], "asked for twice"),
        (["compare", "--workloads", "vectoradd,,bfs"], "a workload name is empty"),
        (["compare", "--jobs", "-1"], "--jobs"),
        (["compare", "--caches", "lukewarm"], "choose cold or warm"),
        (["inspect", "no-such-thing"], "workload 'no-such-thing' is not known"),
        (["inspect", "gone.ptx"], "gone.ptx: there is no such file"),
        (["machines", "gtx999"], "gtx480"),
        (["workloads", "--set", "rvf"], "did you mean 'rfv'"),
        (["bench", "--only", "speed"], "choose emulator, timing or compile"),
        (["fly"], "No such command 'fly'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    assert run_command(words) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_importing_the_package_is_quick():
    script = "import sys, warploom; assert not {'numba', 'pandas', 'numpy'} & set(sys.modules), sys.modules.keys()"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_version_and_help(capsys):
    from warploom import __version__

    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__
    assert run_command(["run", "--help"]) == 0
    assert "--design" in capsys.readouterr().out
