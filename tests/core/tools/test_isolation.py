"""Tools with `isolate=True`: each call in a process that is killed."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ImagePart, InvalidInputError, TextPart, Tool, ToolCall, ToolContext, ToolError, ToolSpec, tool
from abstractcore.concurrency import SyncRuntime, drive
from abstractcore.scrubbing import Secrets
from abstractcore.testing import AsyncCalls, SyncCalls
from abstractcore.tools import execute
from tests.core.tools import isolated_tools as tools
from tests.core.tools.calls import run_tool, text_of
from tests.leftovers import nothing_left, wait_until

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]


def is_alive(pid: int) -> bool:
    """Returns whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process, thread or file descriptor is left when a test ends."""
    # A portal of sync calls keeps an event loop: one selector and a pair of sockets.
    with nothing_left(3):
        yield


@pytest.fixture
def sync_style() -> Iterator[SyncCalls]:
    """Sync calls, for what happens in the process, which is the same in async calls."""
    with SyncCalls() as style:
        yield style


@pytest.mark.smoke
def test_call_runs_in_another_process(call_style, capfd):
    step = run_tool(call_style, tools.process_id, {"prefix": "in "})
    assert text_of(step).startswith("in ")
    assert text_of(step) != f"in {os.getpid()}"
    assert capfd.readouterr() == ("", "this is not a result")


def test_async_function_runs_in_the_process(sync_style):
    assert text_of(run_tool(sync_style, tools.later, {"n": 1})) == "[1,2]"


def test_class_methods_and_static_methods_can_be_isolated(sync_style):
    assert text_of(run_tool(sync_style, tools.Shop.open, {"day": "now"})) == "Shop now"
    assert text_of(run_tool(sync_style, tools.Shop.close, {"day": "now"})) == "closed now"


def test_deps_and_progress_pass_between_the_processes(call_style):
    seen: list[Any] = []
    call = ToolCall("c1", "whose")
    context = ToolContext(
        deps=tools.Account("Ada"),
        llm=None,
        call=call,
        trace_id="t",
        runtime=call_style.runtime,
        on_progress=lambda *progress: seen.append(progress),
    )
    step = call_style.run(execute(tools.whose, call, context, call_style.runtime))
    assert text_of(step) == "Ada"
    assert seen == [(1, 2, "half")]


def test_deps_that_cannot_be_pickled_are_refused(sync_style):
    step = run_tool(sync_style, tools.whose, deps=threading.Lock())
    assert text_of(step).startswith("ToolError: deps of type lock cannot be given to an isolated tool: cannot pickle")


def test_there_is_no_llm_in_the_process(sync_style):
    assert "an isolated tool has no LLM" in text_of(run_tool(sync_style, tools.with_llm))


def test_files_and_data_come_back(sync_style):
    step = run_tool(sync_style, tools.picture)
    text, image = step.result.content
    assert isinstance(text, TextPart)
    assert isinstance(image, ImagePart)
    assert image.blob.read() == b"\x89PNG"
    assert step.data == {"size": [1, 2]}


@pytest.mark.parametrize(
    ("what", "outcome", "text"),
    [
        ("retry", "retry", "again"),
        ("failed", "failed", "no"),
        ("exit", "failed", "SystemExit: 3"),
        ("object", "failed", "NoContentError: a value of type object has no JSON form"),
        ("nothing", "done", "done"),
    ],
)
def test_failures_are_those_of_a_tool_in_this_process(sync_style, what, outcome, text):
    step = run_tool(sync_style, tools.say, {"what": what})
    assert step.outcome == outcome
    assert text_of(step).startswith(text)


def test_traceback_is_that_of_the_tool_without_credentials(sync_style):
    step = run_tool(sync_style, tools.say, {"what": "error"}, secrets=Secrets(["sk-verysecretkey42"]))
    assert "in say" in (step.traceback or "")
    assert "verysecret" not in f"{step}{step.traceback}{text_of(step)}"


def test_on_error_raise_has_the_traceback_of_the_process_as_cause(call_style):
    with pytest.raises(ToolError, match="the tool 'raising' failed: KeyError: 'a'") as caught:
        run_tool(call_style, tools.raising)
    assert "in raising" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("abort", "the tool's process was ended by SIGABRT"),
        ("exit", "the tool's process ended with exit code 3 before it had a result"),
        ("kill", "the tool's process was ended by SIGKILL: it may have needed too much memory"),
    ],
)
def test_death_of_the_process_is_a_result(sync_style, how, text):
    step = run_tool(sync_style, tools.die, {"how": how})
    assert (step.outcome, text_of(step)) == ("failed", f"ProcessEndedError: {text}")


def pids_in(file: Path) -> list[int]:
    """Returns the process ids that `hang` has written: its own, and that of its child."""
    wait_until(file.exists)
    return [int(pid) for pid in file.read_text().split()]


def test_process_and_its_children_are_killed_at_the_time_limit(call_style, tmp_path):
    file = tmp_path / "pids"
    steps: list[Any] = []
    timeout = 0.05
    while not file.exists():  # a busy machine may take long to start the process
        timeout *= 2
        steps.append(run_tool(call_style, tools.hang, {"file": str(file)}, timeout=timeout))
    assert {step.outcome for step in steps} == {"timed_out"}
    assert wait_until(lambda: not any(map(is_alive, pids_in(file))))
    assert call_style.runtime.abandoned == 0


def test_children_that_a_tool_leaves_are_killed(sync_style):
    pid = int(text_of(run_tool(sync_style, tools.leave_a_child)))
    assert wait_until(lambda: not is_alive(pid))


def test_process_is_killed_on_cancellation(tmp_path):
    import asyncio

    file = tmp_path / "pids"

    async def cancel() -> None:
        runtime = style.runtime
        call = ToolCall.of("c1", "hang", {"file": str(file)})
        context = ToolContext(deps=None, llm=None, call=call, trace_id="t", runtime=runtime)
        task = asyncio.ensure_future(execute(tools.hang, call, context, runtime))
        await asyncio.to_thread(pids_in, file)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with AsyncCalls() as style:
        style.run(cancel())
    assert wait_until(lambda: not any(map(is_alive, pids_in(file))))


def test_process_is_killed_on_ctrl_c(ctrl_c, tmp_path):
    file = tmp_path / "pids"
    with SyncCalls() as style, pytest.raises(KeyboardInterrupt):
        ctrl_c(file.exists)
        run_tool(style, tools.hang, {"file": str(file)})
    assert wait_until(lambda: not any(map(is_alive, pids_in(file))))


PARENT = """
import sys
from abstractcore.testing import SyncCalls
from tests.core.tools import isolated_tools
from tests.core.tools.calls import run_tool
run_tool(SyncCalls(), isolated_tools.hang, {"file": sys.argv[1]})
"""


def test_process_ends_when_its_parent_is_killed(tmp_path):
    file = tmp_path / "pids"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(file)], cwd=ROOT)
    pids = pids_in(file)
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not any(map(is_alive, pids)))


def test_calls_run_in_several_threads_at_once():
    def run() -> None:
        call = ToolCall.of("c1", "later", {"n": 1})
        runtime = SyncRuntime()
        context = ToolContext(deps=None, llm=None, call=call, trace_id="t", runtime=runtime)
        texts.append(text_of(drive(execute(tools.later, call, context, runtime))))
        runtime.close()

    texts: list[str] = []
    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["[1,2]"] * 3


def test_large_result_comes_back_whole(sync_style):
    assert len(text_of(run_tool(sync_style, tools.big, {"megabytes": 8}))) == 8 << 20


SCRIPT = """
from dataclasses import dataclass
from abstractcore import ToolContext, tool
from abstractcore.testing import SyncCalls

@dataclass
class Account:
    owner: str

@tool(isolate=True)
def whose(context: ToolContext[Account], mark: str) -> str:
    return context.deps.owner + mark

if __name__ == "__main__":
    import sys
    sys.path.insert(0, sys.argv[1])
    from tests.core.tools.calls import run_tool, text_of
    print(text_of(run_tool(SyncCalls(), whose, {"mark": "!"}, deps=Account("Ada"))))
"""


def test_function_of_a_script_runs_in_a_process_that_imports_the_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script, ROOT], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("Ada!\n", "")


def test_script_without_a_main_guard_does_not_start_processes_without_end(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace('__name__ == "__main__"', "True"))
    done = subprocess.run([sys.executable, script, ROOT], capture_output=True, text=True, timeout=60, check=False)
    assert "an isolated tool was called while its own module was imported" in done.stderr + done.stdout


def test_function_without_a_file_is_refused():
    code = "from abstractcore import tool\n@tool(isolate=True)\ndef f(): ...\nf.spec"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "isolate: f cannot be isolated: it is defined in a session without a file" in done.stderr


def top(a: int) -> int:
    return a


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tool(isolate=True)(lambda a: a), "is not a function at the top of a module"),
        (lambda: Tool(functools.partial(top, 1), isolate=True), "is not a function at the top of a module"),
        (lambda: Tool(top, isolate=True, name="other").spec, None),
        (lambda: Tool(tools.Account("Ada").__eq__, isolate=True).spec, "is not what"),
        (lambda: Tool(tools.Account, isolate=True), "it is a type"),
        (lambda: Tool.of(ToolSpec("a"), lambda call, context: "", isolate=True), "a tool of a spec cannot be isolated"),
    ],
)
def test_functions_that_no_process_can_import_are_refused(make, message):
    if message is None:
        assert make().name == "other"
        return
    with pytest.raises(InvalidInputError, match=message) as caught:
        make()
    assert caught.value.path == "isolate"


def test_local_function_is_refused_where_it_is_defined():
    with pytest.raises(InvalidInputError, match="define it at the top of a module"):

        @tool(isolate=True)
        def local() -> None: ...
