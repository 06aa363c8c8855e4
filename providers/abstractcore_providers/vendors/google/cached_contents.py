"""Content that Google keeps for later calls, created and deleted by requests of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abstractcore.ports import OperationResult, Operator
from abstractcore.schema import CachedContent

from ...common.operations import CACHED_CONTENTS


class CachedContents:
    """The contents that Google keeps for the project of `llm`, an LLM of the provider google or vertex.

    `create` keeps content; calls use it with `provider_options=kept.provider_options`; `extend` keeps it for longer,
    `read` returns what is kept, `delete` ends it. It costs money as long as it is kept. All raise
    `UnsupportedOptionError` for an LLM of another provider, and `ProviderError`: `NotFoundError` for what has ended.
    Methods take a `CachedContent` or its name.
    Source: https://ai.google.dev/api/caching.
    """

    def __init__(self, llm: Operator) -> None:
        self._llm = llm

    def create(
        self, prompt: str | None = None, *, seconds: int, title: str | None = None, **request: Any
    ) -> CachedContent:
        """Keep for `seconds` what `generate` would send: messages, files, system prompt and tools.

        `title` is for people. What else was asked for is named in the warnings; with `strict` it is an error.
        """
        arguments = {"seconds": seconds, "title": title}
        return _kept(self._llm.operate(f"{CACHED_CONTENTS}.create", prompt, arguments=arguments, **request))

    async def acreate(
        self, prompt: str | None = None, *, seconds: int, title: str | None = None, **request: Any
    ) -> CachedContent:
        """As `create`, in an event loop."""
        arguments = {"seconds": seconds, "title": title}
        return _kept(await self._llm.aoperate(f"{CACHED_CONTENTS}.create", prompt, arguments=arguments, **request))

    def read(self, kept: CachedContent | str) -> CachedContent:
        """Returns what is kept under a name."""
        return self._operate("read", kept).value

    async def aread(self, kept: CachedContent | str) -> CachedContent:
        """As `read`, in an event loop."""
        return (await self._aoperate("read", kept)).value

    def extend(self, kept: CachedContent | str, *, seconds: int) -> CachedContent:
        """Keep it for `seconds` from now on."""
        return self._operate("extend", kept, {"seconds": seconds}).value

    async def aextend(self, kept: CachedContent | str, *, seconds: int) -> CachedContent:
        """As `extend`, in an event loop."""
        return (await self._aoperate("extend", kept, {"seconds": seconds})).value

    def delete(self, kept: CachedContent | str) -> None:
        """Delete it now."""
        self._operate("delete", kept)

    async def adelete(self, kept: CachedContent | str) -> None:
        """As `delete`, in an event loop."""
        await self._aoperate("delete", kept)

    def _operate(
        self, action: str, kept: CachedContent | str, arguments: Mapping[str, Any] | None = None
    ) -> OperationResult[Any]:
        name = _name(kept)
        return self._llm.operate(f"{CACHED_CONTENTS}.{action}", name, arguments={"name": name, **(arguments or {})})

    async def _aoperate(
        self, action: str, kept: CachedContent | str, arguments: Mapping[str, Any] | None = None
    ) -> OperationResult[Any]:
        name = _name(kept)
        return await self._llm.aoperate(
            f"{CACHED_CONTENTS}.{action}", name, arguments={"name": name, **(arguments or {})}
        )


def _kept(result: OperationResult[Any]) -> CachedContent:
    return replace(result.value, warnings=result.warnings)


def _name(kept: CachedContent | str) -> str:
    return kept.name if isinstance(kept, CachedContent) else kept
