"""`check_laws`: checks all laws with generated calls, replies and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..errors import ProviderError
from ..ports import Transpiler
from ..schema import Delta, Message, ModelCall, ModelReply
from . import strategies
from .laws import (
    LawBrokenError,
    check_call_losses,
    check_encode_again,
    check_errors,
    check_render_again,
    check_reply_losses,
    check_stream,
)

_PATIENCE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


class _Case(NamedTuple):
    """An example that Hypothesis prints by its repr, not as calls of strategies, which takes minutes for objects that
    occur often.
    """

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)


@st.composite
def _plain(draw: st.DrawFn, cases: SearchStrategy[Any]) -> _Case:
    return _Case(draw(cases))


def check_laws(
    transpiler: Transpiler,
    provider: str,
    *,
    calls: SearchStrategy[ModelCall] | None = None,
    replies: SearchStrategy[ModelReply] | None = None,
    errors: SearchStrategy[ProviderError] | None = None,
    max_examples: int = 100,
) -> None:
    """Raises `LawBrokenError` with the smallest example for a law that `transpiler` breaks.

    `provider` is the provider name in calls and replies. Restrict `calls` to content that the format accepts. `errors`
    are the errors that are rendered and read back. `max_examples` is how many of each are tried for each law.
    """
    plainest = ModelCall("model", (Message.user("hello"),), provider)
    try:
        transpiler.encode(plainest)
    except Exception as error:
        raise LawBrokenError("call_losses", f"the plainest call is refused: {error}") from error

    def run(check: Callable[[Any], None], cases: SearchStrategy[Any]) -> None:
        def check_case(case: _Case) -> None:
            check(case.value)

        phases = [phase for phase in settings().phases if phase is not Phase.explain]
        patient = settings(max_examples=max_examples, deadline=None, suppress_health_check=_PATIENCE, phases=phases)
        patient(given(_plain(cases))(check_case))()

    def check_call(call: ModelCall) -> None:
        check_call_losses(transpiler, call)
        check_encode_again(transpiler, call)

    def check_reply(streamed: tuple[ModelReply, list[Delta]]) -> None:
        reply, deltas = streamed
        check_reply_losses(transpiler, reply)
        check_render_again(transpiler, reply)
        check_stream(transpiler, reply, deltas)

    run(check_call, strategies.calls(provider) if calls is None else calls)
    run(check_reply, strategies.streams(strategies.replies(provider) if replies is None else replies))
    run(lambda error: check_errors(transpiler, error), strategies.errors() if errors is None else errors)
