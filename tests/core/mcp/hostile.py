"""A server over stdio without the SDK, which breaks the rules in one way: `python hostile.py WAY [VERSION]`.

It speaks revision 2025-11-25, or also 2026-07-28 if that is given. Its tool `ask` is answered in the way that is given.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

OUT = sys.stdout.buffer
TOOL = {"name": "ask", "description": "Asks.", "inputSchema": {"type": "object"}}
EXIT_CODE = 3


def send(message: dict[str, Any]) -> None:
    """Writes a message."""
    OUT.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    OUT.flush()


def text(said: str) -> dict[str, Any]:
    """The result of a tool."""
    return {"content": [{"type": "text", "text": said}]}


def answer_another_id(id: Any) -> None:
    send({"id": 987654, "result": text("wrong")})
    send({"id": str(id) + "x", "result": text("wrong")})
    send({"id": id, "result": text("right")})


def answer_twice(id: Any) -> None:
    send({"id": id, "result": text("right")})
    send({"id": id, "result": text("wrong")})


def flood(id: Any) -> None:
    for _ in range(2_000):
        send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 50}})
        send({"method": "notifications/progress", "params": {"progressToken": id, "progress": 1}})
    send({"id": id, "result": text("right")})


def flood_errors(id: Any) -> None:
    for _ in range(200):
        sys.stderr.buffer.write(b"\xff\x1b[31m" * 20_000 + b"\n")
    sys.stderr.flush()
    send({"id": id, "result": text("right")})


def die_amid(id: Any) -> None:
    OUT.write(b'{"jsonrpc": "2.0", "id": %d, "result": {"con' % id)
    OUT.flush()
    os._exit(EXIT_CODE)


def close_output(id: Any) -> None:
    OUT.flush()
    os.close(1)
    signal.pause()


def trickle(id: Any) -> None:
    for byte in json.dumps({"jsonrpc": "2.0", "id": id, "result": text("right")}).encode() + b"\n":
        os.write(1, bytes([byte]))


def ignore_signals(id: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    send({"id": id, "result": text(str(os.getpid()))})
    while True:
        time.sleep(1000)


def fork(id: Any) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    send({"id": id, "result": text(str(child.pid))})


def null_result(id: Any) -> None:
    send({"id": id, "result": None})


def strange(id: Any) -> None:
    for line in (b"null", b"[]", b"3", b"{}", b'{"jsonrpc": "1.0"}', b"[" * 100_000, b"\xff\xfe", b'{"id": NaN}'):
        OUT.write(line + b"\n")
    OUT.flush()
    send({"id": 1, "method": "no/such", "params": {}})
    send({"id": id, "result": text("right")})


def surrogate(id: Any) -> None:
    send({"id": id, "result": text("\ud800 right")})


def never_answer(id: Any) -> None:
    """Does nothing."""


def change_tools(id: Any) -> None:
    names.append("more")
    send({"method": "notifications/tools/list_changed"})
    send({"id": id, "result": text("right")})


names = ["ask"]
WAYS: dict[str, Callable[[Any], None]] = {
    each.__name__: each
    for each in (
        *(answer_another_id, answer_twice, flood, flood_errors, die_amid, close_output, trickle, ignore_signals, fork),
        *(null_result, strange, surrogate, change_tools, never_answer),
    )
}


def tools(way: str, cursor: str | None) -> dict[str, Any]:
    """A page of the tools."""
    if way == "many":
        return {"tools": [{**TOOL, "name": f"tool_{index}"} for index in range(10_000)]}
    if way == "large_page":
        return {"tools": [{**TOOL, "name": f"tool_{index}"} for index in range(100_000)]}
    if way == "endless":
        return {"tools": [], "nextCursor": str(int(cursor or 0) + 1)}
    if way == "deep":
        deep: dict[str, Any] = {}
        for _ in range(200):
            deep = {"type": "object", "properties": {"a": deep}}
        return {"tools": [{**TOOL, "inputSchema": deep}]}
    if way == "schemas":
        cycle = {"$ref": "#/$defs/a"}
        schemas: list[Any] = [
            {"type": "object", "properties": {"x": cycle}, "$defs": {"a": cycle}},
            {"type": "object", "description": "x" * 1_000_000},
        ]
        return {"tools": [{**TOOL, "name": f"s{i}", "inputSchema": each} for i, each in enumerate(schemas)] + [TOOL]}
    if way == "mixed":
        wrong: list[Any] = [
            {**TOOL, "name": "typeless", "inputSchema": {}},
            {"name": "schemaless"},
            {**TOOL, "name": "boolean", "annotations": {"readOnlyHint": "maybe"}},
            {**TOOL, "name": 7},
            "text",
        ]
        page = {"tools": [wrong[0], TOOL, *wrong[1:]]} if cursor is None else {"tools": [{**TOOL, "name": "more"}]}
        return {**page, **({"nextCursor": "2"} if cursor is None else {}), "_meta": {"a": 1}}
    if way == "header":
        schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "not a name"}}}
        return {"tools": [{**TOOL, "name": "headed", "inputSchema": schema}, TOOL]}
    if way == "invisible":
        return {"tools": [{**TOOL, "name": "a\u202esk\x1b[31m\u200b", "description": "Hi\U000e0041 \x07"}]}
    return {"tools": [{**TOOL, "name": name} for name in names]}


def resources() -> dict[str, Any]:
    """More than may be listed."""
    return {"resources": [{"name": str(number), "uri": f"x:/{number}"} for number in range(10_001)]}


def prompts() -> dict[str, Any]:
    """More than may be listed."""
    return {"prompts": [{"name": str(number)} for number in range(10_001)]}


MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What every result has in revision 2026-07-28."""


def main(way: str, version: str | None = None) -> None:
    """Answers until the input ends."""
    capabilities = {"tools": dict[str, Any]()}
    if way == "large_page":
        capabilities |= {"resources": {}, "prompts": {}}
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            spoken = message["params"]["protocolVersion"]
            info = {"name": "hostile", "version": "1"}
            send({"id": id, "result": {"protocolVersion": spoken, "capabilities": capabilities, "serverInfo": info}})
        elif method == "server/discover" and version is not None:
            send({"id": id, "result": {**MODERN, "supportedVersions": [version], "capabilities": capabilities}})
        elif method == "resources/list":
            send({"id": id, "result": resources()})
        elif method == "prompts/list":
            send({"id": id, "result": prompts()})
        elif method == "tools/list" and way == "mute":
            continue
        elif method == "tools/list":
            page = tools(way, message.get("params", {}).get("cursor"))
            send({"id": id, "result": page if version is None else {**MODERN, **page}})
        elif method == "tools/call":
            WAYS[way](id)
        elif id is not None and method is not None:
            send({"id": id, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main(*sys.argv[1:])
