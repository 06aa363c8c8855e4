"""A2A agents on loopback: one that streams, and one that is polled."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from a2a.server.context import ServerCallContext
from a2a.types import TaskState

from abstracta2a import A2AAgent
from abstractcore.client.services import default_services
from tests.core.tools.loops import WAYS, Way
from tests.plugins.a2a.agents import Helper, helper_app, helper_card, served


class Served(NamedTuple):
    """An agent on loopback."""

    url: str
    helper: Helper

    def state_of(self, task_id: str) -> TaskState:
        """The state of a task."""
        task = asyncio.run(self.helper.tasks.get(task_id, ServerCallContext()))
        assert task is not None
        return task.status.state


@pytest.fixture(autouse=True)
def _no_connection_is_left() -> Iterator[None]:
    """The connections of sync calls live until their event loop ends: it is ended after each test."""
    yield
    default_services().sync_runtime.close()


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """One of the four ways of a call. Its event loop closes after the test."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture(params=["sync-whole", "async-streamed"])
def one_of_two_ways(request: Any) -> Iterator[Way]:
    """One of two ways, where all four would take too long."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture(scope="module", params=["streaming", "polled"])
def served_agent(request: Any) -> Iterator[Served]:
    """An agent that streams events, and one that does not."""
    helper = Helper()
    with served(lambda url: helper_app(helper_card(url, streaming=request.param == "streaming"), helper)) as url:
        yield Served(url, helper)


@pytest.fixture
def agent(served_agent: Served) -> A2AAgent:
    """The client of the agent."""
    return A2AAgent(served_agent.url)
