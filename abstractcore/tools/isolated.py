"""The process of an isolated tool: imports the function, runs one call, and ends with the process that started it."""

from __future__ import annotations

import atexit
import json
import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

from ..concurrency import SyncRuntime, drive
from ..concurrency.pipe_messages import read_message, write_message
from ..ports import ToolContext
from ..schema import ToolCall, ToolStep, from_json, to_json
from .execution import execute
from .isolation import IsolatedRequest
from .results import data_of, message_of, record_of, traceback_of
from .tool import Tool, tool_of

is_importing = False
"""Whether the module of the tool is being imported."""


class _NoLLM:
    """Stands for the LLM in the context of an isolated tool, which has none."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError("an isolated tool has no LLM: create one in the tool, or do not isolate it")


def main() -> None:
    """Reads a request from standard input, and writes the step of its call to standard output.

    What the tool prints goes to standard error. It has no standard input.
    """
    request = read_message(sys.stdin.buffer)
    if request is None:
        return
    parent, output = os.dup(0), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    atexit.register(_end_group)
    threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()
    step = to_json(_step_of(pickle.loads(request), output))
    with suppress(OSError, ValueError, AttributeError):  # the tool may have closed or replaced it
        sys.stdout.flush()  # this process may be killed once the step is sent
    _send(output, "step", step)


def _exit_with_parent(parent: int) -> None:
    """Waits for the end of the process that started this one, and ends this one and its children."""
    while os.read(parent, 1):
        pass
    _end_group()
    os._exit(1)


def _end_group() -> None:
    """Ends this process and its children. It is registered first, so it is the last thing that happens at exit."""
    if sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)


def _send(output: IO[bytes], kind: str, content: object) -> None:
    write_message(output, json.dumps([kind, content]).encode())


def _step_of(request: IsolatedRequest, output: IO[bytes]) -> ToolStep:
    call = from_json(request.call)
    assert isinstance(call, ToolCall)
    runtime = SyncRuntime()

    def report(done: float, total: float | None, message: str | None) -> None:
        _send(output, "progress", (done, total, message))

    try:
        tool, deps = _load(request)
        context = ToolContext[Any](
            deps=deps,
            llm=_NoLLM(),
            call=call,
            trace_id=request.trace_id,
            round=request.round,
            runtime=runtime,
            deadline=None if request.seconds_left is None else runtime.now() + request.seconds_left,
            on_progress=report,
        )
        step = drive(execute(tool, call, context, runtime))
        return replace(step, data=data_of(step.data))
    except (Exception, SystemExit) as error:
        return ToolStep(
            call,
            call.result(message_of(error, str), is_error=True),
            0,
            "failed",
            error=record_of(error, str),
            traceback=traceback_of(error, str),
        )


def _load(request: IsolatedRequest) -> tuple[Tool[..., Any], Any]:
    """Returns the tool, to be run in this process, and the `deps`."""
    global is_importing
    is_importing = True
    try:
        if request.main:
            from multiprocessing import spawn

            spawn.prepare(dict(request.main))
        __import__(request.module)
        found: Any = sys.modules[request.module]
        deps = pickle.loads(request.deps)
    finally:
        is_importing = False
    for step in request.name.split("."):
        found = getattr(found, step)
    return tool_of(found).unisolated(), deps
