"""Thinking and cache points with fewer levels than ours.

Thinking options of Claude at Anthropic and Amazon: a token budget or an effort level, and what goes beside them.
Thinking levels, for formats that cannot express each of them. TTLs of cache points: each has one of two values and
does not exceed those of earlier points.

Sources: `ThinkingConfigParam` and `BetaThinkingConfigAdaptiveParam` of the anthropic package, and
https://platform.claude.com/docs/en/build-with-claude/thinking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias, get_args

from abstractcore.schema import CachePoint, CallWarning, ThinkingLevel

from .call_options import duplicate_option_error
from .reading import Object, as_object, as_objects, count_of

Thinking: TypeAlias = "ThinkingLevel | int | None"
EFFORTS: tuple[ThinkingLevel, ...] = ("low", "medium", "high", "xhigh", "max")
"""The levels of `effort` (anthropic's `OutputConfigParam`; botocore's `OutputConfig` of Converse)."""
BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""The beta that `block_binding` needs (build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation)."""
NOT_REPLAYED = "this model accepts earlier reasoning only while it thinks"
"""Where thinking is checked against its conversation, a mismatch is a 400 unless `thinking.block_binding` says
otherwise, and that is not accepted without thinking (build-with-claude/preserved-thinking).
"""

_ENABLED = ("adaptive", "enabled")
_DISPLAY, _BINDING = "display", "block_binding"
_SUMMARIZED = "summarized"
_DROP_BLOCK: Object = {"prefix_mismatch_behavior": "drop_block"}


class ClaudeSettings(Protocol):
    """How a model's thinking is written: fields of a format's dialect."""

    @property
    def off(self) -> str:
        """The type of thinking that disables it."""
        ...

    @property
    def display(self) -> bool:
        """Whether the text of thinking is left out of an answer unless a request asks for it."""
        ...

    @property
    def thinks_by_default(self) -> bool:
        """Whether the model thinks if a request does not say so."""
        ...

    @property
    def block_binding(self) -> bool:
        """Whether thinking that is sent back is checked against the conversation before it."""
        ...

    @property
    def off_effort(self) -> str:
        """The highest effort that is accepted without thinking; empty for any."""
        ...


class ThinkingOption(NamedTuple):
    """The provider option `thinking` of a call, which is merged into the field, and its path."""

    value: Any
    path: str
    effort: Any = None
    """The provider option for the effort."""
    whole: str = ""
    """The path of the option if nothing is left of it, where that is not `path`."""


def write_claude_thinking(
    asked: Thinking, given: ThinkingOption, *, replays: bool, settings: ClaudeSettings, warnings: list[CallWarning]
) -> tuple[Any, ThinkingLevel | None]:
    """Returns the field `thinking`, None if there is none, and the effort of the call's level.

    A model that thinks by default is asked for its summaries, without an effort, even if the call does not mention
    thinking. With `replays`, the request has earlier thinking in it. Raises `InvalidInputError` for an option that
    duplicates the call's field.
    """
    options, binds = as_object(given.value), replays and settings.block_binding
    if given.value is not None and not options:
        if asked is not None:
            raise duplicate_option_error(given.path)
        return given.value, None
    if asked is not None and not {"type", "budget_tokens"}.isdisjoint(options):
        raise duplicate_option_error(given.path)
    if asked == "off":
        _warn(options, list(options), "it has no effect without thinking", given, warnings)
        return {"type": settings.off}, None
    own = _own(asked, given, settings)
    if binds and {**own, **options}.get("type") in _ENABLED:
        own[_BINDING] = dict(_DROP_BLOCK)
    same = [name for name in options if name in own and options[name] == own[name]]
    _warn(options, same, "it is the default", given, warnings)
    others = {name: value for name, value in options.items() if name not in same}
    if asked is None and own.keys() == {"type"} and not others:
        return None, None
    binding = own.pop(_BINDING, None)
    written = {**own, **others}
    if binding is not None:
        written.setdefault(_BINDING, binding)
    return written or None, asked if isinstance(asked, str) else None


def read_claude_thinking(
    thinking: Any, effort: Any, *, replays: bool, settings: ClaudeSettings
) -> tuple[Thinking, Any]:
    """Returns the thinking option of a request, and what else its field `thinking` contains: None if nothing.

    The option is None if there is none, or one that a call cannot express.
    """
    data = as_object(thinking)
    if not data:
        return None, thinking
    kind = data.get("type")
    if kind == settings.off:
        return ("off", None) if len(data) == 1 else (None, data)
    rest = dict(data)
    if kind in _ENABLED and replays and settings.block_binding and rest.get(_BINDING) == _DROP_BLOCK:
        del rest[_BINDING]
    if kind == "enabled" and (budget := count_of(rest, "budget_tokens")) is not None:
        return budget, _without(rest, settings, "type", "budget_tokens")
    if kind != "adaptive":
        return None, rest
    if effort in EFFORTS and (not settings.display or _DISPLAY in rest):
        return effort, _without(rest, settings, "type")
    if not settings.thinks_by_default:
        return None, rest
    return None, _without(rest, settings, "type") if effort is None else _object(rest, "type")


def highest_effort_without_thinking(
    effort: Any, asked: Thinking, path: str, settings: ClaudeSettings, warnings: list[CallWarning]
) -> Any:
    """Returns the effort of a provider option as the model accepts it: if thinking is off, it may be limited."""
    most = settings.off_effort
    if asked != "off" or most not in EFFORTS or effort not in EFFORTS or EFFORTS.index(effort) <= EFFORTS.index(most):
        return effort
    message = f"without thinking, this model accepts an effort up to {most!r}"
    warnings.append(CallWarning("option_changed", path, message, effort, most))
    return most


def has_thinking(messages: Any, kinds: frozenset[str]) -> bool:
    """Whether messages of a request contain thinking: blocks with one of `kinds` as their type or as their key."""
    return any(
        block.get("type") in kinds or not kinds.isdisjoint(block)
        for message in as_objects(messages)
        for block in as_objects(message.get("content"))
    )


def _own(asked: Thinking, given: ThinkingOption, settings: ClaudeSettings) -> Object:
    """Returns the field for the call's value; empty if it has none and the model does not think by default.

    An effort in the provider options is one without a level: the summaries are not asked for then, since both together
    are read as a level.
    """
    display: Object = {_DISPLAY: _SUMMARIZED} if settings.display else {}
    if isinstance(asked, int):
        return {"type": "enabled", "budget_tokens": asked, **display}
    if asked is not None:
        return {"type": "adaptive", **display}
    if not settings.thinks_by_default or as_object(given.value).get("type") not in (None, "adaptive"):
        return {}
    return {"type": "adaptive", **(display if given.effort is None else {})}


def _warn(options: Object, names: list[str], why: str, given: ThinkingOption, warnings: list[CallWarning]) -> None:
    """Warns of options that are left out, once if those are all."""
    all_ = given.whole or given.path
    paths = [all_] if len(names) == len(options) else [f"{given.path}.{name}" for name in names]
    warnings += [CallWarning("no_effect", path, why) for path in paths if names]


def _without(rest: Object, settings: ClaudeSettings, *names: str) -> Object | None:
    if settings.display and rest.get(_DISPLAY) == _SUMMARIZED:
        names = (*names, _DISPLAY)
    return _object(rest, *names)


def _object(rest: Object, *names: str) -> Object | None:
    return {name: value for name, value in rest.items() if name not in names} or None


_ORDER = {level: number for number, level in enumerate(get_args(ThinkingLevel))}


def nearest_level(
    asked: ThinkingLevel | int | None, levels: Iterable[ThinkingLevel], warnings: list[CallWarning]
) -> ThinkingLevel | int | None:
    """Returns the level to send, the nearest of `levels`, with a warning if it is another one.

    Of two that are equally near it is the higher one. "off", a budget and None are returned unchanged.
    """
    if asked is None or isinstance(asked, int) or asked == "off" or asked in levels:
        return asked
    known = sorted(levels, key=_ORDER.__getitem__)
    nearest = min(reversed(known), key=lambda level: abs(_ORDER[level] - _ORDER[asked]))
    message = f"this format's levels are {', '.join(known)}"
    warnings.append(CallWarning("thinking_changed", "thinking", message, asked, nearest))
    return nearest


CACHE_TIMES: Mapping[str, int] = MappingProxyType({"5m": 300, "1h": 3600})
"""The vendors' names of the TTLs, which are in seconds."""

_UNSAID = CACHE_TIMES["5m"]
_MOST = CACHE_TIMES["1h"]


@dataclass(slots=True)
class CacheTimes:
    """Adjusts the TTLs of the cache points of one request, in the order in which they are sent: tools, system,
    messages.
    """

    _longest: int = field(default=_MOST, init=False)

    def fit(self, point: CachePoint | None, path: str, warnings: list[CallWarning]) -> CachePoint | None:
        """Returns the cache point of the item at `path` as it is sent, with a warning if its TTL changes."""
        if point is None:
            return None
        if point.ttl is None:
            self._longest = _UNSAID
            return point
        times = CACHE_TIMES.values()
        nearest = next((time for time in times if time >= point.ttl), _MOST)
        sent = min(nearest, self._longest)
        if sent != point.ttl:
            message = f"the supported TTLs are {' and '.join(map(str, times))} seconds"
            if sent != nearest:
                message = "a TTL cannot exceed those before it, in the order of tools, system and messages"
            warnings.append(CallWarning("cache_time_changed", f"{path}.cache.ttl", message, point.ttl, sent))
        self._longest = sent
        return point if sent == point.ttl else CachePoint(sent)
