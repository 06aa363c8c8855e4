"""How much code a warm call passes through: files, functions, and hops from one file to another.

The third call of each kind is traced, in all threads. Only code of this distribution counts: what a reader follows.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import clients
import httpx2
from rounds import Row, Setup
from tool_rounds import add

from abstractcore_server import Application, ProviderSettings, Settings
from abstractcore_server.process import GracefulServer, listening_socket, url_of

_ROOT = Path(__file__).parents[1]
_OURS = tuple(f"{_ROOT / name}/" for name in ("abstractcore", "cli", "providers", "media", "server"))
_FILE = _ROOT / "examples" / "media" / "invoice.pdf"
_WARM_CALLS = 2
_MOST_FILES = {"text call": 40, "server request": 60}


class Tracer:
    """Notes which of our functions are called, in all threads, in blocks of `tracing()`."""

    def __init__(self) -> None:
        self._active = False
        self.functions: set[CodeType] = set()
        self.hops = 0
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    @property
    def files(self) -> list[str]:
        """The files of these functions, relative to the repository."""
        return sorted({str(Path(code.co_filename).relative_to(_ROOT)) for code in self.functions})

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Notes calls during the block, and forgets those of earlier blocks."""
        self.functions, self.hops, self._active = set(), 0, True
        try:
            yield
        finally:
            self._active = False

    def close(self) -> None:
        """Ends the profiling of this and of new threads."""
        threading.setprofile(None)
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if not self._active or event != "call" or not frame.f_code.co_filename.startswith(_OURS):
            return
        self.functions.add(frame.f_code)
        caller = frame.f_back
        if caller is not None and caller.f_code.co_filename != frame.f_code.co_filename:
            self.hops += caller.f_code.co_filename.startswith(_OURS)


def call_paths(setup: Setup) -> list[Row]:
    """The files, functions and hops of a text call, a file, a stream, a tool loop and a request to the server."""
    tracer = Tracer()
    llm = clients.ours(f"{setup.url}/v1")
    try:
        rows = [
            *_rows(tracer, "text call", lambda: llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM)),
            *_rows(tracer, "call with a PDF", lambda: llm.generate(clients.PROMPT, media=[_FILE])),
            *_rows(tracer, "stream", lambda: list(llm.stream(clients.PROMPT))),
            *_rows(tracer, "tool loop", lambda: llm.generate(clients.PROMPT, tools=[add], run_tools=True)),
        ]
        with _served(setup.url) as url, httpx2.Client(base_url=url, headers=clients.HEADERS) as client:
            body = {**clients.BODY, "model": f"openai/{clients.MODEL}"}
            rows += _rows(tracer, "server request", lambda: client.post("/v1/chat/completions", json=body).json())
        return rows
    finally:
        tracer.close()


def _rows(tracer: Tracer, name: str, call: Callable[[], object]) -> list[Row]:
    for _ in range(_WARM_CALLS):
        call()
    with tracer.tracing():
        call()
    counts = {"files": len(tracer.files), "functions": len(tracer.functions), "hops between files": tracer.hops}
    goals = {"files": _MOST_FILES.get(name)}
    return [
        Row(f"{words} of a warm {name}", count, goal=goals.get(words), is_count=True) for words, count in counts.items()
    ]


@contextmanager
def _served(url: str) -> Generator[str]:
    """Yields the address of the server in a thread of this process."""
    provider = ProviderSettings(base_url=f"{url}/v1", options={"api_key": clients.KEY})
    settings = Settings(providers={"openai": provider})
    listening = listening_socket(settings.server, is_open=True)
    server = GracefulServer(Application(settings))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        yield url_of(listening, settings.server)
    finally:
        server.should_exit = True
        thread.join()
