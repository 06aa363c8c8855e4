"""`CachedContents`: explicit context caching of the Gemini API and Vertex AI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abstractcore.ports import OperationResult, Operator
from abstractcore.schema import CachedContent

from ...common.operations import CACHED_CONTENTS


class CachedContents:
    """The cached contents in the project of `llm`, an LLM of the provider google or vertex.

    `create` caches content; calls use it with `provider_options=cached.provider_options`; `extend` sets a new time to
    live, `read` returns its state, `delete` removes it. Storage is billed until it expires. All raise
    `UnsupportedOptionError` for an LLM of another provider, and `ProviderError`: `NotFoundError` for content that has
    expired. Methods accept a `CachedContent` or its name.
    Source: https://ai.google.dev/api/caching.
    """

    def __init__(self, llm: Operator) -> None:
        self._llm = llm

    def create(
        self, prompt: str | None = None, *, seconds: int, title: str | None = None, **request: Any
    ) -> CachedContent:
        """Caches for `seconds` what `generate` would send: messages, files, system prompt and tools.

        `title` is a display name. Other options are not cached: they are named in the warnings; with `strict` they are
        an error.
        """
        arguments = {"seconds": seconds, "title": title}
        return _with_warnings(self._llm.operate(f"{CACHED_CONTENTS}.create", prompt, arguments=arguments, **request))

    async def acreate(
        self, prompt: str | None = None, *, seconds: int, title: str | None = None, **request: Any
    ) -> CachedContent:
        """The same as `create`, asynchronously."""
        arguments = {"seconds": seconds, "title": title}
        return _with_warnings(
            await self._llm.aoperate(f"{CACHED_CONTENTS}.create", prompt, arguments=arguments, **request)
        )

    def read(self, cached: CachedContent | str) -> CachedContent:
        """Returns the cached content with its state."""
        return self._operate("read", cached).value

    async def aread(self, cached: CachedContent | str) -> CachedContent:
        """The same as `read`, asynchronously."""
        return (await self._aoperate("read", cached)).value

    def extend(self, cached: CachedContent | str, *, seconds: int) -> CachedContent:
        """Sets its time to live to `seconds` from now."""
        return self._operate("extend", cached, {"seconds": seconds}).value

    async def aextend(self, cached: CachedContent | str, *, seconds: int) -> CachedContent:
        """The same as `extend`, asynchronously."""
        return (await self._aoperate("extend", cached, {"seconds": seconds})).value

    def delete(self, cached: CachedContent | str) -> None:
        """Deletes it now."""
        self._operate("delete", cached)

    async def adelete(self, cached: CachedContent | str) -> None:
        """The same as `delete`, asynchronously."""
        await self._aoperate("delete", cached)

    def _operate(
        self, action: str, cached: CachedContent | str, arguments: Mapping[str, Any] | None = None
    ) -> OperationResult[Any]:
        return self._llm.operate(f"{CACHED_CONTENTS}.{action}", arguments={"name": _name(cached), **(arguments or {})})

    async def _aoperate(
        self, action: str, cached: CachedContent | str, arguments: Mapping[str, Any] | None = None
    ) -> OperationResult[Any]:
        return await self._llm.aoperate(
            f"{CACHED_CONTENTS}.{action}", arguments={"name": _name(cached), **(arguments or {})}
        )


def _with_warnings(result: OperationResult[Any]) -> CachedContent:
    return replace(result.value, warnings=result.warnings)


def _name(cached: CachedContent | str) -> str:
    return cached.name if isinstance(cached, CachedContent) else cached
