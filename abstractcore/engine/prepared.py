"""`Prepared`: a call that can be made, and how its answer is read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..ports import AnyInput, Runtime
from ..ports.middleware import call_in
from ..schema import CallWarning, ModelCall, ModelReply
from ..telemetry.propagation import TraceContext, trace_context_of_caller

if TYPE_CHECKING:
    from ..ports import CallContext, CallEnd, ConvertedFiles, FetchedFile
    from ..schema import MediaProgress
    from ..tools.tool import Tool


class OutputReader(Protocol):
    """Returns the user's `output` of a reply; raises `OutputValidationError`."""

    def __call__(self, reply: ModelReply) -> Any:
        """The output."""
        ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """The input of an operation, warnings for what it could not include, and the user's headers, which are not part of
    it since they may be secret. `converted` and `downloads` have the files that earlier rounds of the call have
    converted and downloaded; the rounds have added the last `added_messages`. `tools` can be run here, by name. `begun`
    is given the context of the call when it begins, `on_media_progress` the progress of its conversions. `hold_end`,
    `interaction`, `trace_context`, `conversation`, `corrects` and `priority` are those of `CallContext`; without a
    `trace_context` it is the span that is active when the call begins.
    """

    input: AnyInput
    warnings: tuple[CallWarning, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    converted: ConvertedFiles | None = field(default=None, repr=False)
    downloads: dict[str, FetchedFile] | None = field(default=None, repr=False)
    added_messages: int = 0
    tools: Mapping[str, Tool[..., Any]] | None = field(default=None, repr=False)
    begun: Callable[[CallContext], object] | None = field(default=None, repr=False)
    on_media_progress: Callable[[MediaProgress], object] | None = field(default=None, repr=False)
    hold_end: Callable[[CallContext, CallEnd], bool] | None = field(default=None, repr=False)
    interaction: str | None = None
    trace_context: Mapping[str, str] | None = None
    priority: int = 0
    conversation: str | None = None
    corrects: bool = False

    @property
    def call(self) -> ModelCall:
        """The call that the input is, or has: of operations that take one."""
        call = call_in(self.input)
        assert call is not None
        return call

    def in_span(self) -> Prepared:
        """Returns it with the span that it belongs to, as a call that begins here."""
        return self if self.trace_context is not None else replace(self, trace_context=self.span)

    @property
    def span(self) -> TraceContext:
        """The span that a call belongs to which begins here."""
        if self.trace_context is not None:
            return self.trace_context
        return trace_context_of_caller(self.input.trace_context)


Prepare: TypeAlias = Callable[[Runtime], Awaitable[Prepared]]
"""Builds the input, which includes reading the user's files."""
