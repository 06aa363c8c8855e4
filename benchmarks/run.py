"""Benchmarks relative to the HTTP library alone and openai-python. Compare ratios: times depend on machine and hour.

`python benchmarks/run.py [--quick] [NAME ...]`; a name is part of a benchmark's name. Missed goals are
reported, never an error.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable

import budgets
import call_paths
import calls
import capabilities
import chunk_gaps
import conversations
import dashboard
import databases
import documents
import embedding_requests
import files
import formats
import gateway
import glyphs
import images
import imports
import limits
import litellm_proxy
import making
import mcp_calls
import outputs
import phoenix
import prompted_tools
import response_cache
import routing
import runs
import search
import server_memory
import sessions
import stages
import streams
import tool_rounds
import traces
import tracing
import videos
import voice
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rounds import Row, Setup

import server

MEASURES: dict[str, Callable[[Setup], list[Row]]] = {
    "import": imports.imports,
    "call": calls.sequential,
    "path": call_paths.call_paths,
    "concurrent-call": calls.concurrent,
    "stream": streams.sync_stream,
    "async-stream": streams.async_stream,
    "single-event-stream": streams.single_events,
    "create-llm": making.creation,
    "frames": making.frames,
    "tracing": tracing.tracing,
    "traces": traces.traces,
    "dashboard": dashboard.dashboard,
    "conversation": conversations.conversation,
    "sessions": sessions.sessions,
    "search": search.search,
    "format-chunk": formats.chunks,
    "format-conversation": formats.conversations,
    "stages": stages.stages,
    "tool-round": tool_rounds.tool_rounds,
    "mcp-call": mcp_calls.mcp_calls,
    "capabilities": capabilities.capabilities,
    "prompted-tools": prompted_tools.characters,
    "partial-output": outputs.partial_outputs,
    "json-schemas": outputs.json_schemas,
    "pdf-text": documents.pdf_text,
    "pdf-dense": documents.dense_pages,
    "glyphs": glyphs.drawn_pages,
    "gateway": gateway.gateway,
    "chunk-gaps": chunk_gaps.chunk_gaps,
    "server-memory": server_memory.memory,
    "image": images.fitted,
    "file-again": files.again,
    "many-files": files.many,
    "video": videos.videos,
    "voice": voice.voices,
    "budget": budgets.budgets,
    "response-cache": response_cache.response_cache,
    "limits": limits.limits,
    "embedding-requests": embedding_requests.embedding_requests,
    "routing": routing.routing,
    "database": databases.statements,
    "runs": runs.runs,
}
ON_REQUEST: dict[str, Callable[[Setup], list[Row]]] = {"litellm": litellm_proxy.litellm, "phoenix": phoenix.phoenix}
"""Run only if one is named: it installs what it compares with."""


def main() -> None:
    """Runs the selected benchmarks and prints their table."""
    parser = argparse.ArgumentParser(description="Measure speed and import time.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller batches")
    parser.add_argument(
        "name", nargs="*", help=f"benchmarks whose name contains this: {', '.join(MEASURES | ON_REQUEST)}"
    )
    arguments = parser.parse_args()
    known = MEASURES | ON_REQUEST if arguments.name else MEASURES
    wanted = [name for name in known if not arguments.name or any(part in name for part in arguments.name)]
    if not wanted:
        parser.error(f"no benchmark has such a name; choose from {', '.join(known)}")
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    console = Console()
    rows: list[Row] = []
    with server.running() as url, console.status("") as status:
        setup = Setup(url, rounds=6 if arguments.quick else 12, quick=arguments.quick)
        for name in wanted:
            status.update(f"measuring {name} ...")
            rows += known[name](setup)
    console.print(table(rows))


def table(rows: Iterable[Row]) -> Table:
    """Returns the rows as a table."""
    drawn = Table("what / bar", box=SIMPLE_HEAD, caption="The best of interleaved rounds. Calls and chunks: CPU time.")
    for heading in ("ours", "bar", "ratio", "goal", "verdict"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        verdict = {"ok": "[green]ok[/]", "MISSED": "[red]MISSED[/]"}.get(row.verdict, "")
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        drawn.add_row(row.name, _value(row, row.ours), _value(row, row.bar), ratio, _goal(row), verdict)
    return drawn


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    return f"<= {row.goal:.2f}" if row.ratio is not None else f"<= {_value(row, row.goal)}"


def _value(row: Row, value: float | None) -> str:
    if value is None:
        return ""
    if row.is_count:
        return f"{value:.0f}"
    for unit, seconds in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= seconds:
            return f"{value / seconds:.3g} {unit}"
    return f"{value * 1e6:.2g} us"


if __name__ == "__main__":
    main()
