"""The fast path of every decoder for pieces of text gives the same deltas as the slow path."""

from dataclasses import replace
from typing import Any

import pytest

from abstractcore.framing import AwsEventStreamMessage
from abstractcore.schema import accumulate
from tests.providers.published import Fixture, decoded, fixtures, frames_of, stream_of

_MARK = b"\xef\xbb\xbf"
"""A byte order mark: JSON after it is read, but never by the fast path."""


def marked(frame: Any) -> Any:
    if isinstance(frame, bytes):
        return _MARK + frame
    if isinstance(frame, AwsEventStreamMessage):
        return replace(frame, payload=_MARK + frame.payload)
    return frame if frame.data == b"[DONE]" else replace(frame, data=_MARK + frame.data)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("fixture", fixtures("stream"), ids=str)
def test_fast_path_and_slow_path_give_the_same_deltas(fixture: Fixture, times: int):
    transpiler = fixture.transpiler
    printed = [frame for frame in fixture.read() for _ in range(times)]
    frames = frames_of(transpiler, [stream_of(transpiler, printed)])
    assert accumulate(decoded(transpiler, map(marked, frames))) == accumulate(decoded(transpiler, frames))
