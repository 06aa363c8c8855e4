"""An LLM that records, one that replays, and a virtual clock."""

from __future__ import annotations

import pytest

from abstractcore import Services, replay
from abstractcore.testing import VirtualClock
from tests.core.middleware.cassettes.lines import CLOSED


@pytest.fixture
def clock() -> VirtualClock:
    """Pauses take no time here."""
    return VirtualClock()


@pytest.fixture
def services(services, clock):
    services = Services(environment={}, random=lambda: 0.0, clock=clock)
    yield services
    services.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "cassette.jsonl"


@pytest.fixture
def again(connect, path):
    """An LLM that nothing answers but the recording, and its replay."""

    def again(**options):
        player = replay(path)
        return connect(base_url=CLOSED, middleware=[player], **options), player

    return again
