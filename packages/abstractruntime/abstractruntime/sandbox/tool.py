"""Code of models as a tool, `python_tool`, and as an effect, `run_code`."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from typing import Any

from abstractcore import Interruption, Tool
from abstractcore.errors import InvalidInputError
from abstractcore.schema import JSONObject, JSONValue, ToolLabel
from abstractcore.tools import ToolOutput

from .program import Stopped
from .sandbox import CodeResult, Sandbox

_TOOL_GRACE_SECONDS = 10.0


def run_code(sandbox: Sandbox, payload: JSONValue, interruption: Interruption | None = None) -> JSONObject:
    """Runs the program of a JSON document and returns its result as one; blocks.

    `payload` has `code`, and may have `files`: an object of base64 by path. The result has `files` too, and `stdout`,
    `stderr`, `value`, `exit_code`, `stopped` and `truncated`. Raises what `Sandbox.run` raises. `sandbox` says where,
    and with which limits. Raises `InvalidInputError` for code that is not text.
    """
    if not isinstance(payload, Mapping):
        raise InvalidInputError(f"expected an object with code, got {type(payload).__name__}", path="payload")
    for name in payload:
        if name not in ("code", "files"):
            raise InvalidInputError("expected code and files", path=name)
    code, files = payload.get("code"), payload.get("files", {})
    if not isinstance(code, str):
        raise InvalidInputError(f"expected text, got {type(code).__name__}", path="code")
    if not isinstance(files, Mapping):
        raise InvalidInputError(f"expected an object, got {type(files).__name__}", path="files")
    given = {name: _decoded(name, content) for name, content in files.items()}
    return _document(sandbox.run(code, files=given, interruption=interruption))


def _decoded(name: str, content: object) -> bytes:
    try:
        return base64.b64decode(content if isinstance(content, str) else "?", validate=True)
    except binascii.Error:
        raise InvalidInputError("expected bytes in base64", path=f"files[{name!r}]") from None


def _document(result: CodeResult) -> JSONObject:
    return {
        "stdout": result.stdout,
        "stderr": result.stderr,
        "value": result.value,
        "exit_code": result.exit_code,
        "stopped": result.stopped,
        "truncated": result.truncated,
        "files": {name: base64.b64encode(data).decode() for name, data in result.files.items()},
    }


def python_tool(sandbox: Sandbox | None = None) -> Tool[[str], Any]:
    """Returns the tool `python`, by which a model runs code in `sandbox`, by default one without network and files.

    The model reads the output, the value of the last line, and the names of files; `step.data` is the result of
    `run_code`. A sandbox that does not work here ends the call of `generate` with a `ToolError`.
    """
    used = Sandbox() if sandbox is None else sandbox
    labels: tuple[ToolLabel, ...] = ("untrusted", "sends") if used.network else ()

    async def python(code: str) -> ToolOutput:
        interruption = Interruption()
        try:
            result = await asyncio.to_thread(used.run, code, interruption=interruption)
        finally:
            interruption.set()
        return ToolOutput(_text(result), _document(result))

    return Tool(
        python,
        description=_description(used),
        timeout=used.seconds + _TOOL_GRACE_SECONDS,
        read_only=used.changes_nothing,
        labels=labels,
        on_error="raise",
    )


def _description(sandbox: Sandbox) -> str:
    files = "Files in the working folder stay" if sandbox.folder else "Files do not stay either"
    network = "There is network access." if sandbox.network else "There is no network."
    return (
        "Runs a Python program, and returns what it prints and the value of its last line. Each call is a new process: "
        f"variables of earlier calls are gone. {files}. {network} It may take {sandbox.seconds:g} seconds."
    )


_ENDINGS: dict[Stopped, str] = {
    "time": "It was stopped at its time limit.",
    "memory": "It was stopped: it used too much memory.",
    "processes": "It was stopped: it started too many processes.",
    "output": "It was stopped: it wrote too much output.",
}


def _text(result: CodeResult) -> str:
    """Returns a result as the model reads it."""
    parts = [result.stdout] if result.stdout else []
    if result.value is not None:
        parts.append(f"Value: {result.value}")
    if result.stderr:
        parts.append(f"Standard error:\n{result.stderr}")
    if result.files:
        parts.append("Files: " + ", ".join(f"{name} ({len(data):,} bytes)" for name, data in result.files.items()))
    if result.stopped is not None:
        parts.append(_ENDINGS[result.stopped])
    elif result.exit_code:
        parts.append(f"Exit code: {result.exit_code}")
    return "\n".join(part.rstrip("\n") for part in parts) or "The program has printed nothing."
