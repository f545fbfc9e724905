"""The command as a process: pipes that grow, readers that go, signals, and what is imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_streams import COMMAND, HELLO, QUIET, finish, sse, text, tool

CHAT = ("--vendor", "openai-chat")


def _start(*arguments: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=QUIET,
    )


class _Reader:
    """Reads what a process shows, up to what is waited for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._stdout = process.stdout
        self.shown = b""

    def until(self, wanted: bytes) -> None:
        while wanted not in self.shown:
            data = os.read(self._stdout.fileno(), 4096)
            assert data, f"the output ended without {wanted!r}: {self.shown!r}"
            self.shown += data

    def rest(self) -> bytes:
        while data := os.read(self._stdout.fileno(), 4096):
            self.shown += data
        return self.shown


def _write(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)


def _done(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """End the input; the exit code, and what was said on standard error."""
    assert process.stdin is not None
    assert process.stderr is not None
    with process:
        process.stdin.close()
        said = process.stderr.read()
    return process.returncode, said


def test_following_a_pipe_shows_what_has_come_before_more_comes() -> None:
    process = _start("run", "-", *CHAT, "--follow")
    reader = _Reader(process)
    _write(process, sse(text("Hel"), end=False))
    reader.until(b"Hel")
    # An event that is not whole yet shows nothing, and its rest completes it.
    whole = sse(text("lo, wörld"), end=False)
    middle = whole.index(b"\\u00f6")
    _write(process, whole[:middle])
    _write(process, whole[middle:])
    reader.until("lo, wörld".encode())
    assert b"stop" not in reader.shown
    _write(process, sse(tool('{"a":', id="t1", name="Read"), end=False))
    reader.until(b"... call Read  t1\n")
    assert b"read_only" not in reader.shown
    _write(process, sse(tool("1}"), tool("{}", id="t2", name="Grep"), end=False))
    reader.until(b"read_only, seal sequential, grade exact\n")
    _write(process, sse(finish("tool_calls")))
    assert process.stdin is not None
    process.stdin.close()
    assert reader.rest().endswith(b"notes     none\n")
    assert _done(process) == (0, b"")


def test_a_named_pipe_is_followed_like_any_other(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    path = tmp_path / "stream"
    os.mkfifo(path)
    process = _start("run", str(path), *CHAT, "--follow")
    reader = _Reader(process)
    with path.open("wb", buffering=0) as pipe:
        pipe.write(sse(text("Hel"), end=False))
        reader.until(b"Hel")
        pipe.write(sse(text("lo"), finish()))
    assert b"  Hello\n" in reader.rest()
    assert _done(process) == (0, b"")


def test_without_following_standard_input_is_read_to_its_end() -> None:
    process = _start("run", "-", *CHAT)
    for at in range(len(HELLO)):
        _write(process, HELLO[at : at + 1])
    assert process.stdin is not None
    process.stdin.close()
    assert b"  Hello\n" in _Reader(process).rest()
    assert _done(process) == (0, b"")


@pytest.mark.parametrize(
    ("body", "code"), [(HELLO, 0), (sse(text("a"), end=False), 1), (sse({"error": {"type": "x", "message": "y"}}), 1)]
)
def test_exit_codes_of_the_process(body: bytes, code: int) -> None:
    done = subprocess.run([*COMMAND, "run", "-", *CHAT], input=body, capture_output=True, env=QUIET, check=False)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "no-such-file", *CHAT),
        ("run", "-", "--vendor", "nobody"),
        ("run",),
        ("nothing",),
        ("check", "no-such.rules"),
        ("test", "no-such-rules"),
        ("--nothing",),
    ],
)
def test_wrong_use_is_told_on_standard_error(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([*COMMAND, *arguments], input=b"", capture_output=True, env=QUIET, check=False)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"rror" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("more", [(), ("--json",), ("--follow",)])
def test_a_reader_that_has_gone_is_left_in_peace(more: tuple[str, ...]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    process = _start("run", "-", *CHAT, *more, stdout=theirs)
    os.close(theirs)
    _write(process, HELLO)
    assert _done(process) == (141, b"")


def test_a_reader_may_go_in_the_middle() -> None:
    process = _start("run", "-", *CHAT, "--follow")
    reader = _Reader(process)
    _write(process, sse(text("Hel"), end=False))
    reader.until(b"Hel")
    assert process.stdout is not None
    process.stdout.close()
    _write(process, sse(text("lo"), finish()))
    assert _done(process) == (141, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_an_interrupt_is_quiet() -> None:
    process = _start("run", "-", *CHAT, "--follow")
    reader = _Reader(process)
    _write(process, sse(text("Hel"), end=False))
    reader.until(b"Hel")
    process.send_signal(signal.SIGINT)
    # It ends although more could come.
    process.wait()
    code, said = _done(process)
    assert (code, said.strip()) == (130, b"")


def test_output_that_cannot_be_encoded_is_spelt_out() -> None:
    environment = {**QUIET, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    body = sse(text("é 🙂"), finish())
    for more in ((), ("--json",), ("--follow",)):
        done = subprocess.run(
            [*COMMAND, "run", "-", *CHAT, *more], input=body, capture_output=True, env=environment, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"\xe9 \\U0001f642" in done.stdout


def _imported(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, env=QUIET, check=True
    )
    return set(done.stdout.decode().split("\n")[-2].split())


def test_the_command_line_is_light() -> None:
    modules = _imported("import reknit.cli")
    assert "lark" not in modules
    assert not {name for name in modules if name.startswith(("reknit.lang", "reknit.compile", "reknit.testing"))}
    assert not {"reknit.cli.run", "reknit.cli.check", "reknit.cli.test"} & modules


def test_help_needs_no_parser() -> None:
    code = "from reknit.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    assert "lark" not in _imported(code)
