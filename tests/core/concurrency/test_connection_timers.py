"""The timer of a connection: which one makes room for a new one, and clients that take data slowly."""

from __future__ import annotations

import itertools
from typing import Any
from unittest.mock import Mock

import pytest

from abstractcore.concurrency.connection_timers import ConnectionState, ConnectionTimer, make_room

STATES = [each for each in ConnectionState if each is not ConnectionState.ENDED]
FIRST = ("HEAD", "REST", "IDLE", "HANDSHAKE", "CLOSING")
LAST = ("BODY", "SENDING")
NEVER = ("ANSWER", "OPEN", "MESSAGE")


class Loop:
    """An event loop whose time is that of the test, and whose timers are called by it."""

    def __init__(self) -> None:
        self.now = itertools.count(1.0)
        self.timers: list[Any] = []

    def time(self) -> float:
        return next(self.now)

    def call_later(self, seconds: float, work: Any) -> Any:
        self.timers.append(Mock(seconds=seconds, work=work))
        return self.timers[-1]


def connection(loop: Loop, state: ConnectionState) -> tuple[ConnectionTimer, Any]:
    """A connection in a state, and its transport."""
    transport = Mock()
    transport.get_write_buffer_size.return_value = 100
    given: Any = loop
    timer = ConnectionTimer(given, transport, dict.fromkeys(STATES, 7.0))
    timer.enter(state)
    return timer, transport


def test_states_are_those_of_the_table():
    assert {each.name for each in STATES} == {*FIRST, *LAST, *NEVER}


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("has_idle", [False, True])
def test_connection_that_has_waited_longest_makes_room(state: ConnectionState, has_idle: bool):
    loop = Loop()
    asked: list[bool] = []
    older, newer, newest = (connection(loop, each) for each in (state, state, ConnectionState.HEAD))

    def end_idle() -> bool:
        asked.append(has_idle)
        return has_idle

    for _ in range(2):
        make_room([each for each, _ in (newest, newer, older)], newest[0], end_idle)
    ended = [transport.abort.called for _, transport in (older, newer, newest)]
    if state.name in FIRST:
        assert (ended, asked) == ([True, True, False], [])
    elif has_idle:
        assert (ended, asked) == ([False, False, False], [True, True])
    else:
        assert ended == ([True, True, False] if state.name in LAST else [False, False, True])


@pytest.mark.parametrize("state", [ConnectionState.SENDING, ConnectionState.CLOSING])
def test_client_that_takes_data_slowly_is_not_ended(state: ConnectionState):
    loop = Loop()
    _, transport = connection(loop, state)
    for unread in (90, 1):
        transport.get_write_buffer_size.return_value = unread
        loop.timers[-1].work()
        assert not transport.abort.called
    loop.timers[-1].work()
    assert transport.abort.called
    assert len(loop.timers) == 3


def test_time_of_a_state_begins_once():
    loop = Loop()
    timer, transport = connection(loop, ConnectionState.HEAD)
    timer.enter(ConnectionState.HEAD)
    assert len(loop.timers) == 1
    loop.timers[0].work()
    assert transport.abort.called
    timer.enter(ConnectionState.IDLE)
    assert (timer.state, len(loop.timers)) == (ConnectionState.ENDED, 1)
