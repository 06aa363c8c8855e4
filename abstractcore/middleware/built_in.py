"""The middleware of every LLM: retry, limits, the deadline, tracing, budgets, and the wrapper of the user's own.

`Retry` repeats transient failures, with exponential backoff and jitter. `Limiting` waits for limits, `Deadline` ends
an attempt when the time of the call is over, `Tracing` reports the end of every call, `Budgeting` checks budgets, and
`UserMiddleware` checks what a user's middleware returns. `OfflineEndpoint` belongs to an LLM whose middleware answers
every request: nothing is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..engine import InTime, remaining, time_given
from ..errors import AbstractCoreError, ConfigurationError, ProviderError
from ..ports import (
    Address,
    Answer,
    Attempt,
    AttemptNext,
    CallContext,
    CallNext,
    ModelProfile,
    OperationResult,
    Pricing,
    Runtime,
)
from ..ports.middleware import current_budgets
from ..schema import ModelReply
from ..telemetry import Listener
from ..telemetry.propagation import current_propagator, within_span

if TYPE_CHECKING:
    from ..budgets import Budget
    from ..budgets.estimates import PricedModel
    from ..limits import Limits

Substitute: TypeAlias = Callable[[CallContext, object], Awaitable[Answer]]
"""Makes the call of a context by another model, given by its name or as an LLM."""


class Deadline:
    """Ends an attempt at the call's deadline. After a stream's first deltas, its own alarm takes over."""

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Makes the attempt in the time that is left; raises `RequestTimeoutError`."""
        context = attempt.context
        async with InTime(context.runtime, remaining(context), time_given(context)):
            return await next(attempt)


_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_LONGEST_WAIT_SECONDS = 600.0


class Retry:
    """Retries a request up to `max_retries` times after errors with `retryable`.

    `x-should-retry` of an error response decides that (`engine/exchange.py`), else the error's class. `Retry-After` is
    obeyed. The error is raised at once if the pause would pass the deadline or exceed ten minutes. A stream is retried
    only before its first deltas. A request whose key was renewed is repeated once more. `random` returns numbers from 0
    to 1.
    """

    def __init__(self, max_retries: int, random: Callable[[], float]) -> None:
        self._max_retries = max_retries
        self._random = random

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Makes the attempt, and retries it after transient failures."""
        while True:
            try:
                return await next(attempt)
            except AbstractCoreError as error:
                pause = self._pause(error, attempt)
                if pause is None:
                    raise
            await attempt.context.runtime.sleep(pause)
            attempt = replace(attempt, number=attempt.number + 1)

    def _pause(self, error: AbstractCoreError, attempt: Attempt) -> float | None:
        """Returns the seconds before the next attempt; None to give up."""
        context = attempt.context
        if not attempt.operation.may_repeat or attempt.number > self._max_retries + context.key_is_renewed:
            return None
        longest = _LONGEST_WAIT_SECONDS if context.longest_pause is None else context.longest_pause
        pause = pause_after(error, attempt.number, self._random, longest)
        if pause is None:
            return None
        ends = [each for each in (context.deadline, context.begin_by) if each is not None]
        if ends and context.runtime.now() + pause >= min(ends):
            return None
        return pause


def pause_after(
    error: AbstractCoreError, number: int, random: Callable[[], float], longest: float = _LONGEST_WAIT_SECONDS
) -> float | None:
    """Returns the seconds to wait after the attempt of this number: what `Retry-After` says, else longer each time.
    None if the error is not transient, or the wait would be longer than `longest`.
    """
    if not error.retryable:
        return None
    pause = error.retry_after
    if pause is None:
        most = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** (number - 1))
        pause = most * (0.5 + random() / 2)
    return None if pause > longest else pause


class Tracing:
    """Passes every call and its end to the function that `listener` returns when the call begins, if not None.

    It adds no work for a streamed chunk, and no stack frame but for another tracing system.
    """

    only_own_calls = True

    def __init__(self, listener: Callable[[], Listener | None]) -> None:
        self._listener = listener

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Makes the call, whose end is reported."""
        listener = self._listener()
        if listener is None:
            return next(context)
        context.at_end.append(partial(listener, context))
        return next(context) if current_propagator() is None else _in_span(context, next)


async def _in_span(context: CallContext, next: CallNext) -> Answer:
    """Makes the call in its own span of another tracing system, which its requests name."""
    with within_span(context.trace_id, context.trace_context) as own:
        context.span = own
        return await next(context)


class Limiting:
    """Makes each attempt when `limits` leave room. `account` names the model and the key that it is made with, without
    showing it; `profile` is that of the model, `usual` has the usual sizes of requests.
    """

    def __init__(self, limits: Limits, account: str, profile: ModelProfile, usual: dict[Any, Any]) -> None:
        self._limits = limits
        self._account = account
        self._profile = profile
        self._usual = usual

    def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Awaitable[Answer]:
        """Makes the attempt in its turn; raises `LimitExceededError` if the time of the call does not suffice."""
        if attempt.context.operation.is_free:
            return next(attempt)
        from ..limits.pacing import paced_attempt

        return paced_attempt(self._limits, self._account, attempt, next, self._profile, self._usual)


class Budgeting:
    """Charges each request to the `budgets` of the LLM, and to those of the calls and `with` blocks around it.

    `pricing` and `profile` are those of the model, `usual` has the usual sizes of requests. `substitute` makes the call
    by another model, in place of one that does not fit into a budget: it gets the context, and the name of a model or
    an LLM. It is the innermost middleware: a request that another one answers costs nothing. Without budgets it adds no
    stack frame, and imports nothing.
    """

    only_own_calls = True
    """A call that another LLM has begun passes its call ring; the attempts of this one are charged nevertheless."""

    def __init__(
        self,
        budgets: Sequence[Budget],
        pricing: Pricing,
        profile: ModelProfile,
        usual: dict[Any, Any],
        substitute: Substitute,
    ) -> None:
        self._budgets = tuple(budgets)
        self._pricing = pricing
        self._profile = profile
        self._usual = usual
        self._substitute = substitute
        self._model: PricedModel | None = None

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Makes the call; its budgets hold for other calls that are made for it, such as captions."""
        budgets = self._budgets_of_call()
        if not budgets:
            return next(context)
        from ..budgets.substitutes import call_with_budgets

        return call_with_budgets(budgets, context, next, self._substitute)

    def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Awaitable[Answer]:
        """Reserves the cost of the attempt before it, and settles it after."""
        budgets = self._budgets_of_call()
        if not budgets or attempt.context.operation.is_free:
            return next(attempt)
        from ..budgets.charging import PricedModel, charged_attempt

        if self._model is None:
            self._model = PricedModel(self._pricing, self._profile, {}, self._usual)
        return charged_attempt(budgets, attempt, next, self._model)

    def count_beside(self, context: CallContext) -> None:
        """Lets what is spent beside the requests of a call count in its budgets."""
        budgets = self._budgets_of_call()
        if budgets:
            from ..budgets.charging import count_beside

            count_beside(budgets, context)

    def _budgets_of_call(self) -> tuple[Budget, ...]:
        around = current_budgets.get()
        return tuple(dict.fromkeys((*around, *self._budgets))) if around else self._budgets


class SpendingBeside:
    """Lets the prices of tool runs count in the budgets of calls that other middleware answers, such as a cache."""

    only_own_calls = True

    def __init__(self, budgeting: Budgeting) -> None:
        self._budgeting = budgeting

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Makes the call."""
        self._budgeting.count_beside(context)
        return next(context)


_RINGS = ("around_call", "around_attempt")
_WHOLE: tuple[type[Any], ...] = (ModelReply, OperationResult)
_STREAM = ("read", "close", "abort")


class UserMiddleware:
    """Wraps the methods of `middleware`. Raises `ConfigurationError`, which names `where`, if it has none."""

    def __init__(self, middleware: object, where: str) -> None:
        name = type(middleware).__name__
        if isinstance(middleware, type):
            raise ConfigurationError(
                f"{where} is the class {middleware.__name__}: pass an instance, as in {middleware.__name__}()."
            )
        rings = [ring for ring in _RINGS if callable(getattr(middleware, ring, None))]
        if not rings:
            raise ConfigurationError(f"{where} is a {name}: expected an object with the method {' or '.join(_RINGS)}.")
        for ring in rings:
            setattr(self, ring, partial(_answer, getattr(middleware, ring), f"{name}.{ring}"))


class AroundAttempts:
    """The part of a user's middleware of a group of models that is around attempts, for one of its members."""

    def __init__(self, middleware: Any) -> None:
        self.around_attempt = middleware.around_attempt
        self.offline: bool = getattr(middleware, "offline", False) is True


async def _answer(
    method: Callable[..., object], name: str, given: CallContext | Attempt, next: Callable[[Any], object]
) -> Answer:
    """Returns the answer of the method; raises `ConfigurationError` for a value that is not an answer."""
    awaitable = method(given, next=next)
    if not isinstance(awaitable, Awaitable):
        raise _invalid_answer(name, awaitable, "Define it with `async def`.")
    answer: Any = await cast("Awaitable[Any]", awaitable)
    if isinstance(answer, _WHOLE):
        return answer
    if _is_stream(answer):
        context = given.context if isinstance(given, Attempt) else given
        context.middleware_streams.append(answer)  # a middleware around it may fail to close it
        return answer
    raise _invalid_answer(name, answer, "Return the result of `await next(...)`, a ModelReply or an OperationResult.")


def _is_stream(answer: object) -> bool:
    return not isinstance(answer, type) and all(callable(getattr(answer, member, None)) for member in _STREAM)


def _invalid_answer(name: str, given: object, hint: str) -> ConfigurationError:
    return ConfigurationError(
        f"the middleware {name} returned a {type(given).__name__}, which is not an answer.", hint=hint
    )


class OfflineEndpoint:
    """Replaces the endpoint of the provider."""

    offline = True

    async def open(self, runtime: Runtime) -> Address:
        """Raises `ConfigurationError`."""
        raise ConfigurationError(
            "this LLM sends no requests: its middleware must answer them, and this request bypassed it.",
            hint="Put it last: middleware=[..., replay(path)].",
        )

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns the error unchanged."""
        return error
