"""`Prepared`: a call that can be made, and how its answer is read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..ports import AnyInput, Runtime
from ..ports.middleware import call_in
from ..schema import CallWarning, ModelCall, ModelReply

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
    is given the context of the call when it begins, `on_media_progress` the progress of its conversions. `hold_end` and
    `interaction` are those of `CallContext`.
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

    @property
    def call(self) -> ModelCall:
        """The call that the input is, or has: of operations that take one."""
        call = call_in(self.input)
        assert call is not None
        return call


Prepare: TypeAlias = Callable[[Runtime], Awaitable[Prepared]]
"""Builds the input, which includes reading the user's files."""
