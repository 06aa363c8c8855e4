"""Functions in processes of their own: whatever happens there, this process gets a typed error and keeps nothing."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.concurrency import pool_processes, process_pool
from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.errors import (
    AbstractCoreError,
    CorruptFileError,
    InvalidInputError,
    MediaError,
    RequestTimeoutError,
    StreamInterruptedError,
    WrongPasswordError,
)
from abstractcore.ports import Conversion, Interruption, MediaContext
from tests.core.concurrency import hostile_functions as functions
from tests.leftovers import nothing_left, wait_until
from tests.media.parts import FILES
from tests.page_images import PageImages, registry

pytestmark = pytest.mark.process

WAIT_SECONDS = 60
"""Longer than a busy machine needs: for what happens at once."""


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    """Whatever was done with it, no process, thread or descriptor is left, and no zombie."""
    with nothing_left(3):  # the portal of sync calls
        pool = ProcessPool()
        yield pool
        pids = pool.process_ids
        pool.close()
        assert pool.process_ids == []
        assert not any(map(exists, pids))


def exists(pid: int) -> bool:
    """Whether there is such a process; one that has ended and was not waited for counts."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def run(
    pool: ProcessPool,
    function: Callable[..., Generator[Any, Any, None]],
    *arguments: object,
    seconds: float = WAIT_SECONDS,
    timeout: float | None = None,
) -> Generator[Any, Any, None]:
    return pool.run(function, arguments, source="a.pdf", seconds=seconds, timeout=timeout)


def test_values_go_to_the_process_and_back(pool: ProcessPool):
    values = [None, True, -1, 2.5, "é\ud800", b"\0\xff", [b"", [b"x"], "y"]]
    echo = run(pool, functions.echo, *values)
    pid = next(echo)
    assert pid != os.getpid()
    assert [next(echo) for _ in values] == values
    assert echo.send(("sent", b"bytes")) == ["sent", b"bytes"]
    echo.close()
    large = os.urandom(3_000_000)
    assert list(run(pool, functions.echo, large)) == [pid, large]  # in the same process
    assert len(pool.process_ids) == 1


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (functions.crash, CorruptFileError, r"a.pdf cannot be read: its decoder crashed \(SIGSEGV\)"),
        (functions.leave, CorruptFileError, r"its decoder crashed \(exit code 7\)"),
        (functions.hang, CorruptFileError, r"its decoder took more than 2 seconds for one step"),
        (functions.eat_memory, CorruptFileError, r"takes too much memory"),
        (functions.fail, CorruptFileError, r"its decoder failed \(KeyError\)\. ?"),
        (functions.refuse, WrongPasswordError, r"^the password is wrong"),
    ],
)
def test_end_of_a_decoder_is_a_typed_error(pool: ProcessPool, function: Any, error: type[MediaError], message: str):
    list(run(pool, functions.echo))  # the process is not a new one
    with pytest.raises(error, match=message) as caught:
        list(run(pool, function, seconds=2 if function is functions.hang else WAIT_SECONDS))
    assert type(caught.value) is error
    assert caught.value.source == "a.pdf"
    assert "not for users" not in str(caught.value)
    if function is functions.crash:
        assert "the last words\nFatal Python error: Segmentation fault" in caught.value.__notes__[0]
    assert list(run(pool, functions.echo, 1))[1:] == [1]


@pytest.mark.smoke
def test_crash_of_a_used_process_is_tried_again_in_a_new_one(pool: ProcessPool, tmp_path: Path):
    """What an earlier file broke in the process is no fault of this one."""
    list(run(pool, functions.echo))
    assert list(run(pool, functions.crash_once, str(tmp_path / "crashed"))) == ["read"]
    with pytest.raises(CorruptFileError):
        list(run(pool, functions.crash_once, str(tmp_path / "missing" / "crashed")))


def test_notes_of_a_crash_are_without_what_earlier_files_printed(pool: ProcessPool):
    """They may be of another user."""
    assert list(run(pool, functions.warn, "a line of another file\n")) == ["read"]
    with pytest.raises(CorruptFileError) as caught:
        list(run(pool, functions.crash, 1))  # after a value: it is not tried again in a new process
    assert caught.value.__notes__[0].startswith("the last words\nFatal Python error")


@pytest.mark.parametrize("values", [0, 1])
def test_closed_pool_does_not_call_files_corrupt(pool: ProcessPool, values: int):
    """Nor does it try them again in a new process."""
    list(run(pool, functions.echo))
    hang = run(pool, functions.hang, values)
    if values:
        next(hang)
    (closing_soon,) = pool.process_ids
    threading.Timer(0.1, pool.close).start()
    with pytest.raises(MediaError, match=r"a.pdf was not read to its end: .* was closed") as caught:
        next(hang)
    assert type(caught.value) is MediaError
    assert not exists(closing_soon)
    assert pool.process_ids == []


@pytest.mark.parametrize(
    "garbage",
    [
        b"\xff" * 8,
        (16).to_bytes(8) + (8).to_bytes(8) + b"[1,2,3] ",
        (24).to_bytes(8) + (16).to_bytes(8) + b'{"bytes": 1<<99}',
        (38).to_bytes(8) + (30).to_bytes(8) + b'["value",{"bytes":999999999}] ',
        (10).to_bytes(8) + (99).to_bytes(8) + b"{}",
        (4008).to_bytes(8) + (4000).to_bytes(8) + b"[" * 4000,
        (10).to_bytes(8) + (1 << 25).to_bytes(8) + b"[]",
    ],
    ids=["endless", "no-reply", "no-json", "too-short", "no-length", "nested", "huge-json"],
)
def test_garbage_of_a_process_is_a_typed_error(pool: ProcessPool, garbage: bytes):
    with pytest.raises(CorruptFileError, match=r"its decoder sent a message"):
        list(run(pool, functions.write_on_all_pipes, garbage))


def test_what_libraries_print_is_no_result(pool: ProcessPool):
    assert list(run(pool, functions.print_on_stdout)) == ["clean"]


def test_interrupted_call_and_a_late_one_kill_the_process(pool: ProcessPool):
    interruption = Interruption()
    with interruption.of_this_call():
        hang = run(pool, functions.hang)
        next(hang)
        threading.Timer(0.1, interruption.set).start()
        with pytest.raises(StreamInterruptedError):
            next(hang)
    assert pool.process_ids == []
    with pytest.raises(MediaError, match="time limit"):
        list(run(pool, functions.echo, timeout=-1.0))


@pytest.mark.parametrize("is_orphan", [False, True])
def test_process_that_holds_the_pipes_does_not_hold_up_the_call(pool: ProcessPool, is_orphan: bool):
    """It has a session of its own. It is killed if the decoder is its parent; else nothing tells whose it is."""
    values = run(pool, functions.leave_pipes_open, is_orphan, seconds=2)
    holder = next(values)
    with pytest.raises(CorruptFileError, match=r"more than 2 seconds"):
        next(values)
    assert pool.process_ids == []
    if is_orphan:
        assert is_running(holder)
        os.kill(holder, signal.SIGKILL)
    wait_until(lambda: not is_running(holder))


def test_wait_for_a_process_ends_at_the_time_limit_and_when_interrupted(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pool_processes, "_PATIENCE", 10 * WAIT_SECONDS)
    busy = [run(pool, functions.echo, 1) for _ in range(os.cpu_count() or 1)]
    pids = [next(each) for each in busy]
    with pytest.raises(MediaError, match=r"a.pdf could not be read within its time limit"):
        next(run(pool, functions.echo, timeout=0.1))
    interruption = Interruption()
    with interruption.of_this_call():
        threading.Timer(0.1, interruption.set).start()
        with pytest.raises(StreamInterruptedError):
            next(run(pool, functions.echo))
    assert sorted(pool.process_ids) == sorted(pids)
    threading.Timer(0.1, busy[0].close).start()
    assert next(run(pool, functions.echo)) == pids[0]
    for each in busy:
        each.close()


def test_dropped_generator_gives_its_process_back(pool: ProcessPool):
    echo = run(pool, functions.echo, 1, 2)
    pid = next(echo)
    del echo
    gc.collect()
    assert next(iter(run(pool, functions.echo))) == pid


def test_function_of_the_program_itself_is_refused(pool: ProcessPool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(functions.echo, "__module__", "__main__")
    with pytest.raises(InvalidInputError, match=r"echo cannot run in another process.*Define it in a module"):
        next(run(pool, functions.echo))


def test_frozen_program_runs_functions_itself(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Its `sys.executable` is the program: a new process would be the program again."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(process_pool, "_warned", list[bool]())
    assert [*run(pool, functions.echo, 1), *run(pool, functions.echo)] == [os.getpid(), 1, os.getpid()]
    assert len([record for record in caplog.records if "frozen" in record.message]) == 1
    with pytest.raises(CorruptFileError, match=r"a.pdf cannot be read: its decoder failed \(KeyError\)\."):
        list(run(pool, functions.fail))
    with pytest.raises(WrongPasswordError):
        list(run(pool, functions.refuse))


def test_threads_share_processes(pool: ProcessPool):
    results: list[list[Any]] = []

    def work(number: int) -> None:
        results.extend([number, *run(pool, functions.echo, number)] for _ in range(10))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result[0] == result[2] for result in results)
    assert len(results) == 60
    assert len({result[1] for result in results}) <= 6


def test_idle_process_ends_by_itself(pool: ProcessPool):
    pool = ProcessPool(idle_seconds=0.05)
    (pid,) = run(pool, functions.echo)
    wait_until(lambda: not exists(pid))
    assert list(run(pool, functions.echo)) != [pid]
    pool.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_forked_process_has_a_pool_of_its_own(pool: ProcessPool):
    echo = run(pool, functions.echo, 1)
    pid = next(echo)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # nothing here may raise: it would run the tests in two processes
        try:
            own = list(run(pool, functions.echo, 1))
            with suppress(CorruptFileError):
                own.append(next(echo))
            pool.close()
            os.write(writer, b"same" if pid in own or len(own) > 2 else b"other")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as results:
        assert results.read() == b"other"
    assert list(echo) == [1]
    assert list(run(pool, functions.echo)) == [pid]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process whose parent has died")
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)"])
@pytest.mark.parametrize("is_busy", [True, False])
def test_process_ends_with_the_program(tmp_path: Path, end: str, is_busy: bool):
    """Also while code in C does not return."""
    program = f"""
import os, signal, sys, threading
from abstractcore.concurrency.process_pool import ProcessPool
from tests.core.concurrency.hostile_functions import hang_after
from tests.leftovers import wait_until
values = ProcessPool().run(hang_after, (sys.argv[1],), source="", seconds=600, timeout=None)
print(next(values), flush=True)
if {is_busy}:
    threading.Thread(target=next, args=(values,), daemon=True).start()
    wait_until(lambda: os.path.exists(sys.argv[1]))
{end}
"""
    command = [sys.executable, "-c", program, str(tmp_path / "hangs")]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert ended.returncode in (0, -signal.SIGKILL)
    assert (tmp_path / "hangs").exists() == is_busy
    assert wait_until(lambda: not is_running(int(ended.stdout)))


class Hanging(PageImages):
    """A media handler whose decoder does not return."""

    name = "hanging"

    def __init__(self) -> None:
        super().__init__(describes=True)
        self.hangs = threading.Event()

    def convert(self, part: Any, context: MediaContext) -> Conversion:
        with closing(context.isolated("pages.tif", WAIT_SECONDS, functions.hang)) as values:
            next(values)
            self.hangs.set()
            return Conversion(str(next(values)), "pages")


@pytest.fixture
def hanging(pool: ProcessPool) -> Iterator[tuple[Any, Hanging]]:
    made, handler = registry(), Hanging()
    made.add_media_handler(handler)
    services = Services(registry=made, environment={}, isolation=pool)
    yield create_llm("scripted", replies=["a"], services=services), handler
    wait_until(lambda: not pool.process_ids)
    services.close()


MEDIA = [FILES / "multipage.tif"]


def test_time_limit_of_a_call_ends_its_decoder(hanging: tuple[Any, Hanging], call_style: Any):
    llm, _ = hanging
    with pytest.raises((RequestTimeoutError, MediaError)):
        call_style.generate(llm, "hi", media=MEDIA, timeout=2.0)


def test_ctrl_c_ends_the_decoder(hanging: tuple[Any, Hanging], ctrl_c: Callable[..., None]):
    llm, handler = hanging
    ctrl_c(handler.hangs.is_set)
    with pytest.raises(KeyboardInterrupt):
        llm.generate("hi", media=MEDIA)


def test_cancelled_task_ends_its_decoder(hanging: tuple[Any, Hanging]):
    llm, handler = hanging

    async def cancelled() -> None:
        task = asyncio.create_task(llm.agenerate("hi", media=MEDIA))
        await asyncio.to_thread(handler.hangs.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_closed_stream_ends_its_decoder(hanging: tuple[Any, Hanging]):
    llm, handler = hanging
    stream = llm.stream("hi", media=MEDIA)
    errors: list[AbstractCoreError] = []

    def read() -> None:
        try:
            list(stream)
        except AbstractCoreError as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    handler.hangs.wait(WAIT_SECONDS)
    stream.close()
    thread.join(WAIT_SECONDS)
    assert isinstance(errors[0], StreamInterruptedError)
