"""`RequestedCall`: a request that is validated, which becomes a `ModelCall` once its files and tools are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine import InTime, Prepared, refuse_losses
from ..ports import AnyInput, Runtime
from ..schema import CallWarning, MediaPart, MediaProgress, Message, OutputSchema
from .option_values import build_call
from .pipelines import Pipelines, PreparedRequest

if TYPE_CHECKING:
    from ..files.loading import MediaInput
    from ..tools.tool import Tool
    from .call_tools import CallTools


class RequestedCall(NamedTuple):
    """The content of a request, its `options` with the defaults of the LLM, and what it brings along.

    `timeout` is in seconds, for files and tool servers too.
    """

    provider: str
    pipelines: Pipelines
    prompt: str | None
    messages: tuple[Message, ...]
    system_prompt: str | None
    media: Sequence[MediaInput]
    tools: CallTools | None
    output: OutputSchema | None
    options: Mapping[str, Any]
    stream: bool
    timeout: float | None
    headers: Mapping[str, str]
    warnings: tuple[CallWarning, ...]
    on_media_progress: Callable[[MediaProgress], object] | None
    priority: int

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the call with the content of its files and the tools of its servers.

        Raises `MediaError`, `ToolServerError` and the errors of `build_call`.
        """
        files = await self._files(runtime)
        found, served_warnings = (None, ()) if self.tools is None else await self.tools.complete(runtime, self.timeout)
        call = build_call(
            provider=self.provider,
            model=self.pipelines.model,
            prompt=self.prompt,
            messages=self.messages,
            system_prompt=self.system_prompt,
            media=files,
            tools=() if found is None else found.specs,
            output=self.output,
            options=self.options,
            stream=self.stream,
        )
        tools = None if found is None else found.tools
        warnings = (*served_warnings, *self.warnings)
        return prepared_call(call, warnings, self.headers, self.priority, tools, self.on_media_progress)

    async def _files(self, runtime: Runtime) -> Sequence[MediaPart]:
        if not self.media:
            return ()
        load = self.pipelines.media_loader().load
        async with InTime(runtime, self.timeout):
            return await runtime.call(load, self.media, kind="files")


def prepared_call(
    given: AnyInput,
    warnings: tuple[CallWarning, ...],
    headers: Mapping[str, str],
    priority: int,
    tools: Mapping[str, Tool[..., Any]] | None = None,
    on_media_progress: Callable[[MediaProgress], object] | None = None,
) -> Prepared:
    """Returns a call, or another input, that can be sent; raises `UnsupportedOptionError` for warnings of losses if it
    is strict.
    """
    if given.strict:
        refuse_losses(warnings, given)
    return Prepared(given, warnings, headers, tools=tools, on_media_progress=on_media_progress, priority=priority)


def request_of(prepared: Prepared, timeout: float | None) -> PreparedRequest:
    """Returns the request of an input that is built."""

    async def prepare(runtime: Runtime) -> Prepared:
        return prepared

    return PreparedRequest(prepare, timeout)
