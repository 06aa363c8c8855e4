"""LLMs with limits on a virtual clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from abstractcore import Services
from abstractcore.testing import VirtualClock
from tests.postgresql import postgresql

__all__ = ["postgresql"]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(time_of_day=1_800_000_000.0)


@pytest.fixture
def services(clock: VirtualClock) -> Iterator[Services]:
    services = Services(environment={}, clock=clock, random=lambda: 0.0)
    yield services
    services.close()
