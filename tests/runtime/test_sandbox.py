"""Code in a sandbox: what it can do, what attacks cannot, and what is left of them."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Interruption, InvalidInputError, ToolError, create_llm
from abstractcore.errors import CallInterruptedError
from abstractcore.testing import ScriptedReply
from abstractruntime.sandbox import CodeResult, Sandbox, SandboxError, UntrustedCodeError, python_tool, run_code
from abstractruntime.sandbox.bubblewrap import Bubblewrap
from abstractruntime.sandbox.supervisor import descendants
from tests.leftovers import children, nothing_left, wait_until

pytestmark = pytest.mark.process

_SET_CHILD_SUBREAPER = 36
_MANY = 10 * 1024 * 1024

Run = Callable[..., CodeResult]


def _living(before: set[str]) -> set[str]:
    """Returns the children of this process that are not dead, also those of dead ones."""
    found: set[str] = set()
    for pid in set(children()) - before:
        with suppress(ChildProcessError):
            if os.waitpid(int(pid), os.WNOHANG) == (0, 0):
                found.add(pid)
    return found


@pytest.fixture(autouse=True)
def nothing_runs_on() -> Iterator[None]:
    """No process, thread or descriptor is left: this process takes the orphans of a test."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        with nothing_left(3):  # the event loop of sync calls
            before = set(children())
            yield
            assert wait_until(lambda: not _living(before))
    finally:
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _isolation() -> str:
    with suppress(UntrustedCodeError):
        return Sandbox().isolation
    return "process"


def _needs_bubblewrap() -> None:
    if _isolation() != "bubblewrap":
        pytest.skip("bubblewrap is not installed, or does not work here")


def _run(code: str, **options: Any) -> CodeResult:
    files, interruption = options.pop("files", {}), options.pop("interruption", None)
    return Sandbox(**options).run(textwrap.dedent(code), files=files, interruption=interruption)


@pytest.fixture(params=["bubblewrap", "user namespace"])
def isolated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs code in bubblewrap: as it is used here, and as users without special rights do."""
    _needs_bubblewrap()
    if request.param == "user namespace":
        in_namespace = Bubblewrap(str(shutil.which("bwrap")), by_root=False)
        monkeypatch.setattr("abstractruntime.sandbox.sandbox._find_bubblewrap", lambda path: in_namespace)
    return _run


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs code where there is no bubblewrap."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert Sandbox(trusted=True).isolation == "process"
    return lambda code, **options: _run(code, trusted=True, **options)


@pytest.fixture(params=["isolated", "trusted"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs code in bubblewrap, and without it."""
    if request.param == "isolated":
        _needs_bubblewrap()
        return _run
    return request.getfixturevalue("trusted")


# What code can do.


@pytest.mark.smoke
def test_result_has_output_value_and_files(run):
    result = run(
        """
        import sys
        print(open("in/a.txt").read())
        print("oh", file=sys.stderr)
        open("b.txt", "w").write("made")
        open("in/a.txt", "a").write("!")
        {"answer": 6 * 7}
        """,
        files={"in/a.txt": b"given", "same.txt": b""},
    )
    assert result == CodeResult("given\n", "oh\n", "{'answer': 42}", 0, files={"b.txt": b"made", "in/a.txt": b"given!"})


def test_program_is_main_and_has_no_input(run):
    result = run("print(__name__)\ntry:\n    input()\nexcept EOFError as error:\n    print(error)\nNone")
    assert (result.stdout, result.value) == ("__main__\nEOF when reading a line\n", None)


@pytest.mark.parametrize(
    ("code", "exit_code", "stderr"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("exit('no')", 1, "no\n"),
        ("import os; os._exit(4)", 4, ""),
        ("import os; os.abort()", 134, ""),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
    ],
)
def test_exit_code_is_that_of_the_program(run, code, exit_code, stderr):
    result = run(code)
    assert (result.exit_code, result.stderr, result.stopped) == (exit_code, stderr, None)


def test_traceback_shows_the_lines_of_the_program_only(run):
    assert run("def f(x):\n    return 1 / x\n\nf(0)").stderr == (
        "Traceback (most recent call last):\n"
        '  File "<python>", line 4, in <module>\n    f(0)\n'
        '  File "<python>", line 2, in f\n    return 1 / x\n           ~~^~~\n'
        "ZeroDivisionError: division by zero\n"
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print(", "SyntaxError: '(' was never closed"),
        ("x = '\0'", "null bytes"),
        ("print('\ud800')", "surrogates not allowed"),
        ("(" * 1000 + ")" * 1000, "too many nested parentheses"),
        ("x = " + "-" * 100_000 + "1", "Error"),
    ],
)
def test_code_that_is_no_python_is_an_error_of_the_program(run, code, message):
    result = run(code)
    assert result.exit_code != 0
    assert message in result.stderr or result.exit_code == 139  # the parser may exhaust its stack


def test_text_that_is_no_unicode_is_readable(run):
    result = run(r"print('\ud800'); import os; os.write(1, b'\xff\xfe'); '\udc80'")
    assert sorted(result.stdout) == sorted("\\ud800\n\ufffd\ufffd")
    assert result.value == r"'\udc80'"


def test_packages_and_child_processes_can_be_used(run):
    result = run(
        """
        import multiprocessing, subprocess, sys, pydantic
        print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True).stdout)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(abs, [-1, -2]))
        """
    )
    assert (result.stdout, result.stderr) == ("child\n\n[1, 2]\n", "")


def test_runs_in_threads_do_not_meet(run):
    found: dict[int, CodeResult] = {}

    def work(number: int) -> None:
        found[number] = run(f"import os; open('a', 'w').write('{number}'); print({number}); os.listdir()")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: (each.stdout, each.value, each.files) for number, each in found.items()} == {
        number: (f"{number}\n", "['a']", {"a": str(number).encode()}) for number in range(4)
    }


def test_folder_keeps_files_from_run_to_run(run, tmp_path):
    folder = tmp_path / "kept"
    run("import os; os.makedirs('a'); open('a/n', 'w').write('1')", folder=folder)
    assert run("n = int(open('a/n').read()) + 1\nopen('a/n', 'w').write(str(n))\nn", folder=folder).value == "2"
    assert {str(each.relative_to(folder)): each.is_dir() or each.read_text() for each in folder.rglob("*")} == {
        "a": True,
        "a/n": "2",
    }


def test_link_in_the_folder_is_refused(run, tmp_path):
    (tmp_path / "secret").symlink_to("/etc/passwd")
    with pytest.raises(SandboxError, match="it has links"):
        run("1", folder=tmp_path)


# Limits.


def test_program_is_killed_first_if_memory_runs_out(run):
    assert run("open('/proc/self/oom_score_adj').read()").value == r"'1000\n'"


def test_endless_loop_is_stopped_and_its_files_are_kept(run):
    result = run("open('a', 'w').write('x')\nprint('on', flush=True)\nwhile True: pass", seconds=1)
    assert (result.timed_out, result.stopped, result.exit_code, result.stdout) == (True, "time", 137, "on\n")
    assert result.files == {"a": b"x"}


def test_sleep_that_ignores_signals_is_stopped(run):
    code = """
    import signal, time
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    time.sleep(1000)
    """
    assert run(code, seconds=1).stopped == "time"


def test_one_process_cannot_take_too_much_memory(run):
    result = run("try:\n    bytearray(10**9)\nexcept MemoryError:\n    print('no')\nbytearray(10**9)", memory=200 << 20)
    assert (result.stdout, result.exit_code) == ("no\n", 1)
    assert "MemoryError" in result.stderr


def test_many_processes_cannot_take_too_much_memory(run):
    code = """
    import os, time
    for _ in range(8):
        if os.fork() == 0:
            data = b"x" * (100 << 20)
            time.sleep(1000)
    time.sleep(1000)
    """
    assert run(code, memory=200 << 20).stopped == "memory"


def test_memory_that_processes_share_counts_once(run):
    code = """
    import os, time
    data = b"x" * (100 << 20)
    children = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            time.sleep(0.2)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    "done"
    """
    assert run(code, memory=250 << 20).value == "'done'"


def test_fork_bomb_ends(run):
    result = run("import os\nwhile True:\n    os.fork()", processes=12, seconds=20)
    assert result.stopped == "processes" or result.exit_code or "BlockingIOError" in result.stderr


def test_kernel_limits_processes_in_bubblewrap():
    _needs_bubblewrap()
    code = """
    import os, time
    count = 0
    try:
        while True:
            if os.fork() == 0:
                time.sleep(1000)
            count += 1
    except BlockingIOError:
        print(count)
    """
    result = _run(code, processes=12)
    assert result.stopped is None
    assert result.stdout == "11\n"


def test_flood_of_output_is_dropped_as_it_comes(run):
    result = run("import os\nwhile True:\n    os.write(1, b'x' * 65536)", output=1000)
    assert (result.stopped, result.truncated) == ("output", True)
    assert len(result.stdout) < 1100
    assert "is left out" in result.stdout


def test_long_output_keeps_both_ends(run):
    result = run("print('first'); print('\u20ac' * 100_000); print('last'); 'v' * 100_000", output=100)
    assert result.stopped is None
    assert result.truncated
    assert result.stdout.startswith("first\n\u20ac")
    assert result.stdout.endswith("\u20ac\nlast\n")
    assert "\ufffd" not in result.stdout
    assert result.value == "'" + "v" * 99


def test_flood_of_results_is_stopped(run):
    code = """
    import os
    while True:
        for descriptor in os.listdir("/proc/self/fd"):
            if int(descriptor) > 2:
                try: os.write(int(descriptor), b"x" * 65536)
                except OSError: pass
    """
    result = run(code, file_bytes=1000, output=100)
    assert (result.stopped, result.files) == ("output", {})


def test_huge_file_cannot_be_written(run):
    code = "with open('big', 'wb') as file:\n    while True:\n        file.write(b'x' * 2**20)"
    result = run(code, file_bytes=_MANY)
    assert "OSError: [Errno 27] File too large" in result.stderr
    assert len(result.files.get("big", b"")) <= _MANY


def test_many_files_cannot_fill_the_disk(isolated):
    code = """
    for number in range(100):
        for folder in (".", "/tmp"):
            open(f"{folder}/{number}", "wb").write(b"x" * 2**20)
    """
    result = isolated(code, file_bytes=_MANY)
    assert "No space left on device" in result.stderr
    assert sum(map(len, result.files.values())) <= _MANY
    assert result.truncated


def test_files_past_the_limit_are_left_out(run):
    result = run("for n in range(30):\n    open(str(n), 'wb').write(b'x' * 2**19)", file_bytes=_MANY)
    assert sum(map(len, result.files.values())) <= _MANY
    assert result.truncated


def test_limits_cannot_be_raised(isolated):
    code = """
    import resource
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
        try: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (ValueError, OSError): print("no")
    """
    assert isolated(code).stdout == "no\nno\nno\n"


# What code tries to get at.


def test_machine_and_environment_are_out_of_sight(isolated, monkeypatch, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    code = f"""
    import os
    for path in ("/etc/shadow", "/etc/passwd", "/home", "/var", "/sys", {str(secret)!r}, {str(Path.home() / ".ssh")!r}):
        print(os.path.exists(path), end=" ")
    print(os.environ.get("HOME"), os.environ.get("OPENAI_API_KEY"), os.path.expanduser("~"))
    print(sorted(int(pid) < 10 for pid in os.listdir("/proc") if pid.isdigit()), os.getuid() > 1000)
    print(b"secret" in b"".join(open(f"/proc/{{pid}}/environ", "rb").read() for pid in ("self",)))
    """
    assert isolated(code).stdout == "False " * 7 + "None None ~\n[True, True, True] True\nFalse\n"


def test_environment_is_empty_without_bubblewrap(trusted, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert trusted("import os; sorted(os.environ)").value == "['LANG', 'OMP_NUM_THREADS', 'PATH', 'TMPDIR']"


def test_system_cannot_be_changed(isolated):
    code = """
    import os, sys
    library = os.path.dirname(os.__file__)
    for folder in ("/", "/usr", "/usr/lib", "/etc", "/dev", "/proc/sys/kernel", sys.prefix, library):
        try: open(f"{folder}/made", "w")
        except OSError: print("no", end=" ")
    print(os.access("/dev/null", os.W_OK), os.access("/tmp", os.W_OK))
    """
    assert isolated(code).stdout == "no " * 8 + "True True\n"


def test_there_is_no_network(isolated):
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""
        import socket
        for make in (
            lambda: socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 5),
            lambda: socket.create_connection(("192.0.2.1", 80), 5),
            lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
            lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            lambda: socket.getaddrinfo("example.com", 80),
        ):
            try: make()
            except OSError as error: print("no")
        """
        assert isolated(code).stdout == "no\n" * 5


def test_network_can_be_allowed(run):
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]})).getpeername()[0]"
        assert run(code, network=True).value == "'127.0.0.1'"


@pytest.mark.parametrize(
    "call",
    [
        "libc.unshare(0x10000000)",
        "libc.syscall(435, 0, 0)",
        "libc.ptrace(16, 1, 0, 0)",
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.shmget(0, 10**9, 0o1777)",
        "libc.memfd_create(b'x', 0)",
        "libc.syscall(425, 1, 0)",
        "libc.chroot(b'/tmp')",
        "libc.setuid(0)",
    ],
)
def test_system_calls_of_attacks_fail(isolated, call):
    result = isolated(f"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n{call}, ctypes.get_errno()")
    assert result.value in ("(-1, 1)", "(-1, 22)", "(-1, 38)")


def test_memory_of_the_supervisor_is_out_of_reach(isolated):
    code = "import os\ntry: open(f'/proc/{os.getppid()}/mem', 'r+b')\nexcept PermissionError: print('no')"
    assert isolated(code).stdout == "no\n"


def test_killing_its_parent_ends_the_program(run):
    result = run("import os, time\nprint('on', flush=True)\nos.kill(os.getppid(), 9)\ntime.sleep(1000)")
    assert (result.exit_code, result.stdout, result.files, result.truncated) == (137, "on\n", {}, True)


def test_killing_all_processes_kills_those_of_the_sandbox(isolated):
    code = """
    import os, time
    assert os.getpid() < 10
    try: os.kill(1, 9)
    except PermissionError: pass
    os.kill(-1, 9)
    time.sleep(1000)
    """
    assert isolated(code).exit_code == 137


def test_stopping_its_parent_does_not_help(run):
    result = run("import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(1000)", seconds=1)
    assert (result.stopped, result.truncated) == ("time", True)


def test_daemon_ends_with_the_program(run):
    code = """
    import os, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            print("daemon", flush=True)
            time.sleep(1000)
        os._exit(0)
    os.wait()
    print("end")
    """
    result = run(code)
    assert (result.stopped, result.exit_code) == (None, 0)
    assert "end" in result.stdout


def test_closed_output_is_no_end(run):
    code = "import os, time\nos.closerange(0, 100)\ntime.sleep(0.3)\nopen('late', 'w').write('x')"
    result = run(code)
    assert (result.stopped, result.files) == (None, {"late": b"x"})


def test_links_and_what_is_no_file_are_not_returned(run):
    code = """
    import os, socket
    os.mkdir("folder"); open("folder/real", "w").write("x")
    os.symlink("/etc/hostname", "link"); os.symlink("/etc", "etc"); os.symlink("folder", "other")
    os.symlink("loop", "loop"); os.link("folder/real", "hard"); os.mkfifo("fifo")
    socket.socket(socket.AF_UNIX).bind("socket")
    open(b"\\xff", "w"); open("a\\nb", "w"); open("kept", "w").write("y")
    os.mkdir("closed"); open("closed/file", "w"); os.chmod("closed", 0)
    """
    result = run(code)
    assert result.stderr == ""
    assert {name for name in result.files if not name.startswith("closed")} == {"a\nb", "kept"}
    assert result.truncated


def test_deep_folders_do_no_harm(isolated):
    code = "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\nopen('f', 'w')"
    assert isolated(code).files == {}


def test_forged_results_name_no_files_outside(run, tmp_path):
    forged = {"files": {"../x": "eA==", "/x": "eA==", "a/../../x": "eA==", "": "eA==", "n\0": "eA==", "b": 1, "c": "%"}}
    code = f"""
    import json, os
    lines = b"\\n" + json.dumps({forged!r}).encode() + b"\\n[[[\\n" + b"[" * 20_000 + b"\\n"
    for descriptor in os.listdir("/proc/self/fd"):
        if int(descriptor) > 2:
            try: os.write(int(descriptor), lines)
            except OSError: pass
    os.kill(os.getppid(), 9)
    """
    result = run(code, folder=tmp_path / "kept")
    assert (result.files, result.truncated) == ({}, True)
    assert not (tmp_path / "x").exists()


# How it ends from outside.


def test_interruption_of_another_thread_ends_the_program(run):
    interruption = Interruption()
    most = 4 if Sandbox(trusted=True).isolation == "bubblewrap" else 2

    def interrupt() -> None:
        wait_until(lambda: len(descendants(os.getpid())) == most)
        interruption.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(CallInterruptedError):
        run("import time\ntime.sleep(1000)", interruption=interruption)
    thread.join()
    with pytest.raises(CallInterruptedError):
        run("print(1)", interruption=interruption)


def test_death_of_this_process_ends_the_program(run, tmp_path):
    program = (
        "from abstractruntime.sandbox import Sandbox\n"
        "Sandbox(trusted=True).run('import os, time; os.fork() or os.setsid(); time.sleep(1000)')"
    )
    before = set(children())
    process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)})
    most = 5 if Sandbox(trusted=True).isolation == "bubblewrap" else 3
    assert wait_until(lambda: len(descendants(process.pid)) == most)
    process.kill()
    process.wait()
    assert wait_until(lambda: not _living(before))


# What is refused.


def test_untrusted_code_is_refused_without_bubblewrap(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UntrustedCodeError) as caught:
        Sandbox().run("print(1)")
    assert str(caught.value) == (
        "code that is not trusted is not run: bubblewrap is not installed. Install it: apt-get install bubblewrap, "
        "or use Sandbox(trusted=True) for code that you trust."
    )


@pytest.mark.parametrize("script", ["#!/bin/sh\necho 'bwrap: No permissions to make a namespace' >&2; exit 1", "junk"])
def test_bubblewrap_that_does_not_work_is_not_used(monkeypatch, tmp_path, script):
    (tmp_path / "bwrap").write_text(script)
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UntrustedCodeError, match="does not work here: ") as caught:
        Sandbox().run("print(1)")
    assert "allow user namespaces" in str(caught.value)
    assert Sandbox(trusted=True).run("1 + 1").value == "2"


def test_process_that_cannot_be_started_is_an_error(trusted, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(SandboxError, match=r"cannot be started: .*No such file"):
        trusted("1")
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(SandboxError, match="has no Python interpreter"):
        trusted("1")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("seconds", 0),
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        ("seconds", True),
        ("memory", 0),
        ("memory", 1.5),
        ("output", -1),
        ("processes", "many"),
        ("file_bytes", 0),
        ("network", 1),
        ("trusted", "yes"),
    ],
)
def test_settings_are_checked(setting, value):
    with pytest.raises(InvalidInputError, match=f"^{setting}: expected"):
        Sandbox(**{setting: value})


@pytest.mark.parametrize("name", ["", "/etc/x", "../x", "a/../x", "a//b", "./a", "n\0", "x" * 300, "\ud800", "a/"])
def test_names_of_files_are_checked(trusted, name):
    with pytest.raises(InvalidInputError, match="relative path"):
        trusted("1", files={name: b""})


def test_arguments_are_checked(trusted):
    with pytest.raises(InvalidInputError, match="files: expected at most 10 bytes, got 11"):
        trusted("1", files={"a": b"x" * 11}, file_bytes=10)
    with pytest.raises(InvalidInputError, match="expected bytes, got str"):
        trusted("1", files={"a": "x"})
    with pytest.raises(InvalidInputError, match="code: expected text"):
        Sandbox(trusted=True).run(b"1")  # type: ignore[arg-type]


# Effects and tools.


def test_result_of_an_effect_is_json(trusted):
    payload = {"code": "open('b', 'wb').write(open('a', 'rb').read() * 2)", "files": {"a": "AP8="}}
    assert run_code(Sandbox(trusted=True), payload) == {
        "stdout": "",
        "stderr": "",
        "value": "4",
        "exit_code": 0,
        "stopped": None,
        "truncated": False,
        "files": {"b": "AP8A/w=="},
    }


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (None, "payload: expected an object with code, got NoneType"),
        ({}, "code: expected text, got NoneType"),
        ({"code": "1", "files": []}, "files: expected an object"),
        ({"code": "1", "files": {"a": "%"}}, "files['a']: expected bytes in base64"),
        ({"code": "1", "files": {"a": None}}, "files['a']: expected bytes in base64"),
        ({"code": "1", "trusted": True}, "trusted: expected code and files"),
    ],
)
def test_payload_of_an_effect_is_checked(payload, message):
    with pytest.raises(InvalidInputError) as caught:
        run_code(Sandbox(), payload)
    assert str(caught.value).startswith(message)


def _ask(tool: Any, code: str) -> Any:
    llm = create_llm("scripted", replies=[ScriptedReply.tool_call("python", {"code": code}), "Done."])
    return llm.generate("Compute.", tools=[tool], run_tools=True)


def test_model_reads_output_value_errors_and_files(trusted):
    code = "open('a.txt', 'w').write('x'); print('hi')\n6 * 7"
    (step,) = _ask(python_tool(Sandbox(trusted=True)), code).tool_steps
    assert step.result.as_text == "hi\nValue: 42\nFiles: a.txt (1 bytes)"
    assert step.data["files"] == {"a.txt": "eA=="}
    (step,) = _ask(python_tool(Sandbox(trusted=True)), "1/0").tool_steps
    assert step.outcome == "done"
    assert step.result.as_text.endswith("ZeroDivisionError: division by zero\nExit code: 1")
    (step,) = _ask(python_tool(Sandbox(trusted=True, seconds=0.5)), "while True: pass").tool_steps
    assert step.result.as_text == "It was stopped at its time limit."
    (step,) = _ask(python_tool(Sandbox(trusted=True)), "").tool_steps
    assert step.result.as_text == "The program has printed nothing."


def test_call_ends_if_code_cannot_be_run(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError, match=r"UntrustedCodeError: .* use Sandbox\(trusted=True\)"):
        _ask(python_tool(), "1")


def test_tool_says_what_it_does(tmp_path):
    spec = python_tool().spec
    assert (spec.name, spec.read_only, spec.labels, list(spec.parameters["properties"])) == (
        "python",
        True,
        (),
        ["code"],
    )
    assert python_tool(Sandbox(network=True)).spec.labels == ("untrusted", "sends")
    for changing in (Sandbox(network=True), Sandbox(trusted=True), Sandbox(folder=tmp_path)):
        assert python_tool(changing).spec.read_only is False


def test_cancelled_call_ends_the_program(trusted, tmp_path):
    begun = tmp_path / "begun"

    async def call() -> None:
        llm = create_llm("scripted", replies=[ScriptedReply.tool_call("python", {"code": code}), "Done."])
        task = asyncio.create_task(
            llm.agenerate("Compute.", tools=[python_tool(Sandbox(trusted=True))], run_tools=True)
        )
        assert await asyncio.to_thread(wait_until, begun.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    code = f"import time; open({str(begun)!r}, 'w'); time.sleep(1000)"
    asyncio.run(call())
