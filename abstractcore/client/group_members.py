"""`GroupMember`: an LLM as a group of models calls it: with its own name, defaults, headers and time limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from ..errors import UnsupportedOptionError
from ..ports import EMBED, Answer, AnyInput, CallContext, HasOperations, Operation
from ..ports.middleware import call_in
from ..schema import CallInput, Message, ModelCall
from ..schema.reprs import with_valid
from .operations import find_operation
from .option_values import SAMPLING_OPTIONS, build_call

if TYPE_CHECKING:
    from .llm import LLM
    from .pipelines import Pipelines
    from .preparing import RequestPreparer

_PATIENCE_SECONDS: Final = 2.0
"""The longest pause before a retry of a member while another one is ready."""
_SET_BY_DEFAULTS: Final = (
    "thinking",
    "parallel_tool_calls",
    "tool_choice",
    "cache",
    "modalities",
    "strict",
    "tool_format",
    "rescue",
    "output_mode",
    "tool_search",
    "file_store",
)
_MERGED: Final = ("media_policy", "media_history", "provider_options", "tags")


def call_of_defaults(options: Mapping[str, Any]) -> ModelCall:
    """Returns a call that has the default options of an LLM, and nothing else."""
    return build_call(
        provider="",
        model="",
        prompt="-",
        messages=(),
        system_prompt=None,
        media=(),
        tools=(),
        output=None,
        options=options,
        stream=False,
    )


class GroupMember:
    """One member of a group. It answers with the defaults of its own LLM, where the call sets nothing."""

    def __init__(self, llm: LLM, pipelines: Pipelines, preparer: RequestPreparer) -> None:
        self.llm = llm
        self.pipelines = pipelines
        self._preparer = preparer
        self._system_prompt: str | None = preparer.defaults.get("system_prompt")
        self.timeout: float | None = preparer.defaults.get("timeout")

    @cached_property
    def _defaults(self) -> ModelCall | None:
        """The defaults of the LLM as a call; None if there are none."""
        options = {name: value for name, value in self._preparer.defaults.items() if name not in _NOT_IN_CALLS}
        return call_of_defaults(options) if options else None

    def for_operation(self, name: str) -> GroupMember:
        """Returns the member that has an operation: for vectors the provider's model for them, where the user has named
        none.
        """
        embedder = self.llm.embedder() if name == EMBED else None
        return self if embedder is None else embedder.as_member()

    async def answer(
        self,
        context: CallContext,
        given: AnyInput,
        headers: Mapping[str, str],
        member_timeout: float | None,
        *,
        sync: bool,
        is_last: bool,
    ) -> Answer:
        """Makes the call `given` of a group; `headers` are those of the call.

        Raises `UnsupportedOptionError` for an operation that the provider does not have.
        """
        self.llm.check_open()
        defaults = self._preparer.headers
        context.headers = {**defaults, **headers} if defaults else headers
        own = context.input = self.own_input(given)
        context.decisions = ()
        limits = [each for each in (member_timeout, self.timeout) if each is not None]
        context.begin_by = context.runtime.now() + min(limits) if limits else None
        context.longest_pause = None if is_last else _PATIENCE_SECONDS
        pipeline = self.pipelines.sync if sync else self.pipelines.asynchronous
        answer = await pipeline.take_over(context, self._operation(context.operation, given))
        context.begin_by = None
        if context.input is own:  # middleware of the member has asked nothing else
            context.asked = given
        return answer

    def own_input(self, given: AnyInput) -> AnyInput:
        """Returns the input of a group's call as one of this model."""
        call = call_in(given)
        if call is None:
            return given.with_(provider=self.llm.provider, model=self.llm.model)
        own = self.own_call(call)
        return own if isinstance(given, ModelCall) else cast("CallInput", given).with_(call=own)

    def own_call(self, call: ModelCall) -> ModelCall:
        """Returns a group's call as one of this model, with its defaults where the call sets nothing."""
        changes: dict[str, Any] = {"provider": self.llm.provider, "model": self.llm.model}
        defaults = self._defaults
        if defaults is not None:
            changes |= _changes(call, defaults)
        if self._system_prompt is not None and not any(message.role == "system" for message in call.messages):
            changes["messages"] = (Message.system(self._system_prompt), *call.messages)
        return with_valid(call, **changes)

    def separates_output(self, call: ModelCall) -> bool:
        """Returns whether a typed answer takes a call of its own. A mode that the provider does not have is refused
        when it is asked.
        """
        try:
            return self.pipelines.sync.separates_output(self.own_call(call))
        except UnsupportedOptionError:
            return False

    def has_operation(self, name: str) -> bool:
        """Returns whether the provider's wire format has an operation."""
        transpiler = self.pipelines.session.transpiler
        return isinstance(transpiler, HasOperations) and name in transpiler.operations

    def _operation(self, wanted: Operation[Any, Any], given: AnyInput) -> Operation[Any, Any] | None:
        """Returns the operation of this provider's wire format; None for a chat."""
        if wanted.is_chat:
            return None
        found = find_operation(self.pipelines.session.transpiler, wanted.name)
        if not isinstance(given, found.input):
            raise UnsupportedOptionError(f"the operation {wanted.name!r} of this provider takes another input.")
        return found


_NOT_IN_CALLS: Final = frozenset({"headers", "timeout", "output_retries", "system_prompt", "parent_id"})
_EMPTY_CALL: Final = ModelCall(model="", messages=(Message.user("-"),))


def _changes(call: ModelCall, defaults: ModelCall) -> dict[str, Any]:
    """Returns what the defaults set of a call that sets nothing there."""
    changes: dict[str, Any] = {}
    for name in _SET_BY_DEFAULTS:
        default, unset = getattr(defaults, name), getattr(_EMPTY_CALL, name)
        if default != unset and getattr(call, name) == unset:
            changes[name] = default
    if not call.tools and not call.hosted_tools:
        changes.pop("tool_choice", None)
    for name in _MERGED:
        default = getattr(defaults, name)
        if default:
            changes[name] = {**default, **getattr(call, name)}
    sampling = {
        name: getattr(defaults.sampling, name)
        for name in (*SAMPLING_OPTIONS, "stop")
        if getattr(call.sampling, name) in (None, ()) and getattr(defaults.sampling, name) not in (None, ())
    }
    if sampling:
        changes["sampling"] = replace(call.sampling, **sampling)
    merged = {name: changes[name] for name in _MERGED if name in changes}
    if merged:
        frozen = _EMPTY_CALL.with_(**merged)
        changes |= {name: getattr(frozen, name) for name in merged}
    return changes
