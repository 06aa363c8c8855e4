"""The kinds of effects that come with this package: `model`, `tool`, `http` and `code`; and those of plugins.

A plugin's kinds are entry points of the group `abstractruntime.effects`: the name of a kind, and a function without
arguments that returns an `EffectKind`. They are imported when a run first uses them.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from abstractcore import LLM, Tool, create_llm
from abstractcore.concurrency import SyncRuntime
from abstractcore.errors import InvalidInputError, PluginError
from abstractcore.scrubbing import Secrets, credentials_in

from .effects import EffectContext, EffectKind, EffectResult
from .json_documents import JSON, member
from .programs import AfterCrash
from .sandbox import Sandbox, run_code

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_log = logging.getLogger("abstractruntime")
GROUP: Final = "abstractruntime.effects"
_CHOOSE: Final = "Uninstall all but one, or give the one to use: Runtime(effects={...})."
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Methods that may be repeated: RFC 9110, section 9.2.2."""
_LARGEST_RESPONSE: Final = 1_000_000


@lru_cache(maxsize=64)
def found_kind(name: str) -> EffectKind | None:
    """Returns a kind that comes with this package or a plugin; None without one.

    Raises `PluginError` for a plugin that cannot be loaded, and for two of one name. A plugin with the name of a kind
    of this package is not used, and the log says so.
    """
    from importlib.metadata import entry_points

    entries = [*entry_points(group=GROUP, name=name)]
    packages = ", ".join(sorted(map(_package, entries)))
    built_in = _BUILT_IN.get(name)
    if built_in is not None:
        if entries:
            _log.warning("the effects %r of %s are not used: this kind is built in", name, packages)
        return built_in()
    if not entries:
        return None
    if len(entries) > 1:
        raise PluginError(f"several packages have effects of the kind {name!r}: {packages}", hint=_CHOOSE)
    hint = (
        f"Mend or uninstall {packages}. Its entry point is {name} = {entries[0].value}, a function without arguments."
    )
    try:
        kind = entries[0].load()()
    except (Exception, SystemExit) as error:
        problem = f"the kind of effects {name!r} of {packages} cannot be loaded: {type(error).__name__}: {error}"
        raise PluginError(problem, hint=hint) from error
    if not isinstance(kind, EffectKind):
        problem = f"the kind of effects {name!r} of {packages} has no `execute` and `after_crash`"
        raise PluginError(f"{problem}, it is of the type {type(kind).__name__}", hint=hint)
    return kind


def _package(entry: EntryPoint) -> str:
    return entry.value if entry.dist is None else entry.dist.name


class ModelEffect:
    """One call of a model. The payload has `prompt`, and perhaps `model` (`provider/model`), `system_prompt` and
    `options`, those of `generate`; the result is `{"content": ..., "model": ...}`.

    After a crash the request is sent again: it changes nothing, but may be charged twice. `llm` is the default model.
    """

    after_crash: AfterCrash = "repeat"

    def __init__(self, llm: LLM | None = None) -> None:
        self._llms: dict[str, LLM] = {} if llm is None else {"": llm}

    def execute(self, context: EffectContext, payload: JSON) -> Any:
        """Returns the answer, or an awaitable of it in an event loop."""
        prompt = member(payload, "prompt")
        if not isinstance(prompt, str):
            raise InvalidInputError("expected a text", path="effect.payload.prompt")
        request: dict[str, Any] = {**(member(payload, "options") or {}), "interruption": context.interruption}
        request["tags"] = {**(request.get("tags") or {}), **context.tags}
        if member(payload, "system_prompt") is not None:
            request["system_prompt"] = member(payload, "system_prompt")
        llm = self._llm(member(payload, "model") or "")
        if isinstance(context.runtime, SyncRuntime):
            return _answered(llm.generate(prompt, **request))
        return self._awaited(llm, prompt, request)

    async def _awaited(self, llm: LLM, prompt: str, request: dict[str, Any]) -> EffectResult:
        return _answered(await llm.agenerate(prompt, **request))

    def _llm(self, name: str) -> LLM:
        if name not in self._llms:
            provider, _, model = name.partition("/")
            if not provider:
                hint = "Name one in the payload, or pass Runtime(effects={'model': ModelEffect(llm)})."
                raise InvalidInputError("there is no model", path="effect.payload.model", hint=hint)
            self._llms[name] = create_llm(provider, model=model) if model else create_llm(provider)
        return self._llms[name]


def _answered(response: Any) -> EffectResult:
    tokens = (response.usage.input or 0) + (response.usage.output or 0)
    value = {"content": response.content, "model": response.model}
    return EffectResult(value, tokens, response.costs.known + response.costs.estimated)


class ToolEffect:
    """Calls of functions. The payload has the `name` of a tool and its `arguments`; the result is what it returns.

    After a crash a tool that is `read_only` or `idempotent` is called again; about any other one somebody is asked.
    """

    def __init__(self, tools: Sequence[Callable[..., Any] | Tool[..., Any]]) -> None:
        made: list[Tool[..., Any]] = [each if isinstance(each, Tool) else Tool(each) for each in tools]
        self._tools = {each.spec.name: each for each in made}

    def after_crash(self, payload: JSON) -> AfterCrash:
        """Returns the rule for the tool of a payload."""
        tool = self._tools.get(member(payload, "name"))
        return "repeat" if tool is not None and (tool.spec.read_only or tool.spec.idempotent) else "ask"

    def execute(self, context: EffectContext, payload: JSON) -> Any:
        """Calls a tool with validated arguments."""
        name = member(payload, "name")
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            raise InvalidInputError(f"there is no tool {name!r}; known: {known}", path="effect.payload.name")
        arguments = tool.prepare(member(payload, "arguments") or {})
        return tool(*arguments.positional, **arguments.keywords)


class CodeEffect:
    """Runs Python in a `Sandbox`: the payload has `code`, and perhaps `files`, their content by name in base64.

    After a crash it is run again, unless the sandbox lets it change something: then somebody is asked.
    """

    def __init__(self, sandbox: Sandbox | None = None) -> None:
        self._sandbox = sandbox or Sandbox()

    def after_crash(self, payload: JSON) -> AfterCrash:
        """Returns the rule for the sandbox."""
        return "repeat" if self._sandbox.changes_nothing else "ask"

    def execute(self, context: EffectContext, payload: JSON) -> JSON:
        """Returns what the code has printed and made, as JSON."""
        return dict(run_code(self._sandbox, payload, context.interruption))


class HttpEffect:
    """HTTP requests to addresses that begin with one of `allow`; redirects are not followed.

    The payload has `url`, and perhaps `method` (GET), `headers`, and `json` or `text`; the result `status`, `headers`,
    and `json` or `text`. Requests carry the header `Idempotency-Key`, which is the same after a crash. A POST or PATCH
    is sent again then only with `idempotent=True`, for servers that honour the key; otherwise somebody is asked.

    The ledger has payloads and responses whole. `headers` are sent with each request and are in no record: keys belong
    there. Cookies of responses are left out.
    """

    def __init__(
        self,
        allow: Sequence[str],
        *,
        headers: Mapping[str, str] | None = None,
        idempotent: bool = False,
        timeout: float = 60.0,
    ) -> None:
        for prefix in allow:
            if not prefix.startswith(("http://", "https://")) or prefix.count("/") < 3:
                hint = "Write the address with its first slash, as in https://api.example.com/"
                raise InvalidInputError(
                    f"expected the beginning of an address, got {prefix!r}", path="allow", hint=hint
                )
        self._allow = tuple(allow)
        self._headers = dict(headers or {})
        self._secrets = Secrets(credentials_in("", self._headers))
        self._idempotent = idempotent
        self._timeout = timeout

    def after_crash(self, payload: JSON) -> AfterCrash:
        """Returns the rule for the method of a payload."""
        method = str(member(payload, "method") or "GET").upper()
        return "repeat" if self._idempotent or method in _SAFE else "ask"

    async def execute(self, context: EffectContext, payload: JSON) -> JSON:
        """Sends a request, and returns the response, whatever its status is."""
        try:
            return await self._response(context, payload)
        except Exception as error:
            raise self._secrets.cleaned(error) from None

    async def _response(self, context: EffectContext, payload: JSON) -> JSON:
        import httpx2

        url, method = str(member(payload, "url")), str(member(payload, "method") or "GET").upper()
        if not url.startswith(self._allow) or _has_parent_folders(url):
            raise InvalidInputError(f"the address {url!r:.200} is not allowed", path="effect.payload.url")
        headers: dict[str, str] = {"idempotency-key": context.idempotency_key}
        for given in (member(payload, "headers") or {}, self._headers):  # later ones replace those of one name
            headers |= {name.lower(): value for name, value in given.items()}
        content = member(payload, "text")
        if "json" in payload:
            content = json.dumps(payload["json"])
            headers.setdefault("content-type", "application/json")
        async with (
            httpx2.AsyncClient(timeout=self._timeout) as client,
            client.stream(method, url, headers=headers, content=content) as response,
        ):
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _LARGEST_RESPONSE:
                    raise InvalidInputError(f"the response has more than {_LARGEST_RESPONSE:,} bytes")
        return {
            "status": response.status_code,
            "headers": _recorded(response.headers),
            **_content(response.headers, body),
        }


def _has_parent_folders(url: str) -> bool:
    """Whether a path has `..`, also escaped: the client or a server resolves it, to an address that is not allowed."""
    return ".." in re.split(r"[/\\]", unquote(urlsplit(url).path))


def _recorded(headers: Mapping[str, str]) -> dict[str, JSON]:
    return {name: value for name, value in headers.items() if name.lower() != "set-cookie"}


def _content(headers: Mapping[str, str], body: bytes) -> dict[str, JSON]:
    if "json" in headers.get("content-type", ""):
        try:
            return {"json": json.loads(body)}
        except ValueError:
            return {"text": body.decode(errors="replace")}
    return {"text": body.decode(errors="replace")}


_BUILT_IN: Final[Mapping[str, Callable[[], EffectKind]]] = {"model": ModelEffect, "code": CodeEffect}
