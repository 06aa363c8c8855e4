"""The cost of creating an LLM, and the number of our stack frames between the user and the HTTP library."""

from __future__ import annotations

import sys
from types import FrameType
from unittest import mock

import clients
import httpcore2
from rounds import Row, Setup, best, cpu_seconds, repeated

import abstractcore
import abstractcore_providers
from abstractcore import Services

_MOST_SECONDS = 1e-3
_MOST_FRAMES = 7


def creation(setup: Setup) -> list[Row]:
    """`create_llm` after the first."""
    count = 200
    batch = cpu_seconds(repeated(lambda: clients.ours(setup.url), count), count)
    return [Row("create_llm, not the first", best({"ours": batch}, setup.rounds)["ours"], goal=_MOST_SECONDS)]


def frames(setup: Setup) -> list[Row]:
    """Our stack frames when a traced sync call without tools reaches the HTTP library."""
    depths: list[int] = []
    send = httpcore2.ConnectionPool.handle_request

    def counting(pool: httpcore2.ConnectionPool, request: httpcore2.Request) -> httpcore2.Response:
        depths.append(_our_frames(sys._getframe()))
        return send(pool, request)

    services = Services()
    counted = mock.patch.object(httpcore2.ConnectionPool, "handle_request", counting)
    with counted, services.records.subscribe(lambda record: None):
        clients.ours(f"{setup.url}/v1", services).generate(clients.PROMPT)
    return [Row("our frames in a call", max(depths), goal=_MOST_FRAMES, is_count=True)]


def _our_frames(frame: FrameType | None) -> int:
    folders = tuple(path for package in (abstractcore, abstractcore_providers) for path in package.__path__)
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith(folders)
        frame = frame.f_back
    return count
