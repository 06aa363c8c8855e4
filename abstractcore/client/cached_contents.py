"""Content that the provider keeps for later calls, made and ended by requests of their own, sync and async."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

from ..concurrency import drive
from ..engine import Pipeline, Prepare
from ..errors import UnsupportedOptionError
from ..ports import ContentKeeper
from ..schema import CachedContent, Encoded, WireResponse
from .option_values import at_least_one
from .options import CallRequest
from .pipelines import Pipelines
from .signatures import takes

Ask = Callable[[str | None, CallRequest], tuple[Prepare, float | None]]
"""Checks a request; gives what makes its call, and the seconds it may take."""


class CachedContents:
    """`llm.cached_contents`: content is kept with `create`, used by `provider_options=kept.provider_options`, kept for
    longer with `extend`, looked at with `read` and ended with `delete`. It costs money as long as it is kept.

    All raise `UnsupportedOptionError` where the provider keeps nothing by such requests, and `ProviderError` else:
    `NotFoundError` for what has ended. Names are those the provider gave; a `CachedContent` stands for its name.
    """

    def __init__(self, pipelines: Pipelines, ask: Ask) -> None:
        self._pipelines = pipelines
        self._ask = ask

    @takes(CallRequest)
    def create(
        self, prompt: str | None = None, *, seconds: int, title: str | None = None, **request: Unpack[CallRequest]
    ) -> CachedContent:
        """Keep for `seconds` what `generate` would send: messages, files, system prompt and tools.

        `title` is for people. What else was asked for is named in the warnings; with `strict` it is an error.
        """
        return drive(self._create(self._pipelines.sync, prompt, seconds, title, request))

    @takes(CallRequest)
    async def acreate(
        self, prompt: str | None = None, *, seconds: int, title: str | None = None, **request: Unpack[CallRequest]
    ) -> CachedContent:
        """As `create`, in an event loop."""
        return await self._create(self._pipelines.asynchronous, prompt, seconds, title, request)

    def read(self, kept: CachedContent | str) -> CachedContent:
        """What is kept under a name."""
        return drive(self._read(self._pipelines.sync, kept))

    async def aread(self, kept: CachedContent | str) -> CachedContent:
        """As `read`, in an event loop."""
        return await self._read(self._pipelines.asynchronous, kept)

    def extend(self, kept: CachedContent | str, *, seconds: int) -> CachedContent:
        """Keep it for `seconds` from now on."""
        return drive(self._extend(self._pipelines.sync, kept, seconds))

    async def aextend(self, kept: CachedContent | str, *, seconds: int) -> CachedContent:
        """As `extend`, in an event loop."""
        return await self._extend(self._pipelines.asynchronous, kept, seconds)

    def delete(self, kept: CachedContent | str) -> None:
        """End it now."""
        drive(self._delete(self._pipelines.sync, kept))

    async def adelete(self, kept: CachedContent | str) -> None:
        """As `delete`, in an event loop."""
        await self._delete(self._pipelines.asynchronous, kept)

    async def _create(
        self, pipeline: Pipeline, prompt: str | None, seconds: int, title: str | None, request: CallRequest
    ) -> CachedContent:
        keeper, lifetime = self._keeper(), at_least_one(seconds, "seconds")
        prepare, timeout = self._ask(prompt, request)
        made = await pipeline.operate(
            prepare, timeout, lambda call: keeper.encode_keeping(call, lifetime, title), keeper.decode_kept
        )
        return replace(made.result, warnings=made.warnings)

    async def _read(self, pipeline: Pipeline, kept: CachedContent | str) -> CachedContent:
        keeper = self._keeper()
        return await self._about(pipeline, kept, keeper.encode_kept, keeper.decode_kept)

    async def _extend(self, pipeline: Pipeline, kept: CachedContent | str, seconds: int) -> CachedContent:
        keeper, lifetime = self._keeper(), at_least_one(seconds, "seconds")
        return await self._about(
            pipeline, kept, lambda name: keeper.encode_extension(name, lifetime), keeper.decode_kept
        )

    async def _delete(self, pipeline: Pipeline, kept: CachedContent | str) -> None:
        await self._about(pipeline, kept, self._keeper().encode_deletion, lambda response: CachedContent(""))

    async def _about(
        self,
        pipeline: Pipeline,
        kept: CachedContent | str,
        encode: Callable[[str], Encoded],
        decode: Callable[[WireResponse], CachedContent],
    ) -> CachedContent:
        """The answer to a request about what is kept. Its name stands for a call's prompt, which is not sent."""
        name = kept if isinstance(kept, str) else kept.name
        prepare, timeout = self._ask(name, {})
        return (await pipeline.operate(prepare, timeout, lambda call: encode(name), decode)).result

    def _keeper(self) -> ContentKeeper:
        keeper = self._pipelines.session.transpiler
        if not isinstance(keeper, ContentKeeper):
            raise UnsupportedOptionError(
                "this provider keeps no content by requests of their own.", hint="Ask with cache=True."
            )
        return keeper
