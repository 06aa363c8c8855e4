"""Options of a call: the provider's and those of sampling, written with a warning for what a format cannot express.

The warnings have the same codes and wording in every format. Provider options of a call, a message or a part are fields
of the JSON object that is written for it; one that duplicates a field of the call is an error. A table maps the fields
of a dataclass to those of a vendor's object, for writing and for reading. The service tier and the region that a call
asks for in its provider's options decide on its price:

OpenAI, Groq, Mistral, xAI and Anthropic: `service_tier`; OpenAI also `background_options.completion_window`
(developers.openai.com/api/docs/guides/flex-processing); Anthropic: `speed` and `inference_geo`
(platform.claude.com/docs/en/build-with-claude/fast-mode, /data-residency); Gemini: `serviceTier`; Bedrock:
`serviceTier.type` and `performanceConfig.latency` (Converse in the API reference).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.ports import Endpoint, KnownUrl, Terms
from abstractcore.schema import (
    EMPTY,
    NO_OPTIONS,
    Billing,
    CallWarning,
    FinishReason,
    JSONObject,
    JSONValue,
    MediaPart,
    Message,
    ModelCall,
    Part,
    ProviderOptions,
    Sampling,
    SchemaError,
    Usage,
    freeze_object,
    to_data,
)

from .reading import Object

if TYPE_CHECKING:
    from abstractcore.schema import OperationInput


def unsupported(path: str, requested: JSONValue, what: str) -> CallWarning:
    """Returns the warning for an option that is not sent."""
    return CallWarning("unsupported_option", path, f"this provider does not support {what}", requested)


def reasoning_left_out(path: str) -> CallWarning:
    """Returns the warning for reasoning of another model."""
    return CallWarning("reasoning_left_out", path, "reasoning is sent only to the model that wrote it")


def warn_of_merging(indexes: Sequence[int], parts: Sequence[Part], reason: str, warnings: list[CallWarning]) -> None:
    """Warns that the messages at `indexes` are sent as one with these parts.

    The warnings for their parts are replaced by one for each message, with their texts.
    """
    first, *others = (f"messages[{index}]" for index in indexes)
    paths = (f"{first}.parts", *(f"{path}." for path in others))
    within = [warning for warning in warnings if warning.path.startswith(paths)]
    warnings[:] = [warning for warning in warnings if warning not in within]
    message = "; ".join(dict.fromkeys([reason, *(warning.message for warning in within)]))
    warnings.append(CallWarning("merged", f"{first}.parts", message, sent=[to_data(part) for part in parts]))
    warnings += [CallWarning("merged", path, message) for path in others]


@dataclass(frozen=True, slots=True)
class FormatWarnings:
    """Builds the warnings of one wire format. `name` is the format's name in messages: "the Messages format"."""

    name: str

    def part(self, part: Part, path: str) -> CallWarning:
        """Returns the warning for a part that is left out."""
        return CallWarning("part_left_out", path, f"{self.name} has no field for this {part.type} part")

    def field(self, name: str, path: str) -> CallWarning:
        """Returns the warning for a field of the part at `path` that is left out."""
        field_path = f"{path}.{name}" if path else name
        return CallWarning(f"{name}_left_out", field_path, f"{self.name} has no field for {name} here")

    def fields(self, item: object, path: str, names: Iterable[str], warnings: list[CallWarning]) -> None:
        """Warns of those fields of the item at `path` that are set, if it has them."""
        for name in names:
            if getattr(item, name, None):
                warnings.append(self.field(name, path))  # noqa: PERF401 - most parts have none: no list is made

    def controls(self, part: MediaPart, path: str, followed: Container[str], warnings: list[CallWarning]) -> None:
        """Warns of those controls of the file at `path` that are not `followed`."""
        if part.controls is not None:
            for name in part.controls.names:
                if name not in followed:
                    message = f"{self.name} has no field for {name} here"
                    value = getattr(part.controls, name)
                    warnings.append(CallWarning("control_not_followed", f"{path}.controls.{name}", message, value))

    def options(self, call: ModelCall, names: Iterable[str], warnings: list[CallWarning]) -> None:
        """Warns of those options of a call that are set."""
        for name in names:
            value: Any = getattr(call, name)
            if value not in (None, ()):
                warnings.append(unsupported(name, value, name))

    def finish_reason(self, requested: FinishReason, sent: FinishReason, warnings: list[CallWarning]) -> None:
        """Warns if clients receive another finish reason than the reply's."""
        if sent != requested:
            message = f"{self.name} has no value for {requested!r} here"
            warnings.append(CallWarning("finish_reason_changed", "finish_reason", message, requested, sent))

    def counts(
        self, usage: Usage, names: Iterable[str], warnings: list[CallWarning], code: str = "count_left_out"
    ) -> None:
        """Warns of those token counts that were reported."""
        for name in names:
            count = getattr(usage, name)
            if count is not None:
                message = f"{self.name} has no count of {name.replace('_', ' ')} tokens"
                warnings.append(CallWarning(code, f"usage.{name}", message, count))

    def billing(self, requested: Billing | None, sent: Billing | None, warnings: list[CallWarning]) -> None:
        """Warns if clients receive other billing data than the reply's."""
        if sent != requested:
            message = f"{self.name} has no fields for all of it, or derives it from other fields"
            code = "billing_left_out" if sent is None else "billing_changed"
            warnings.append(CallWarning(code, "usage.billing", message, to_data(requested), to_data(sent)))

    def metadata(self, metadata: JSONObject, sent: JSONObject, warnings: list[CallWarning]) -> None:
        """Warns if some of a reply's metadata are not among those `sent`, as the format uses their names for something
        else.
        """
        left = [name for name in metadata if name not in sent]
        if left:
            message = f"{self.name} uses {', '.join(left)} for something else"
            warnings.append(CallWarning("metadata_left_out", "provider_metadata", message, metadata, sent or None))

    def metadata_field(self, name: str) -> CallWarning:
        """Returns the warning for one name in a reply's metadata, where each is reported separately."""
        message = f"{self.name} uses {name!r} for something else"
        return CallWarning("metadata_left_out", f"provider_metadata.{name}", message)

    def nothing_left(self) -> UnsupportedContentError:
        """Returns the error for a conversation without any message left."""
        return UnsupportedContentError(f"{self.name} has no field for any part of these messages.")

    def hosted_tools(self, call: ModelCall, known: Container[str] = ()) -> UnsupportedContentError:
        """Returns the error for a call with a hosted tool of none of the `known` kinds, those that the format has."""
        index, tool = next((i, tool) for i, tool in enumerate(call.hosted_tools) if tool.kind not in known)
        other = "openai-responses" if tool.kind == "tool_search" else "google"
        return UnsupportedContentError(
            f"hosted_tools[{index}]: {self.name} has no hosted tools such as {tool.kind}.",
            hint=f"Use a provider with this hosted tool, such as 'anthropic' or {other!r}, or define a function tool.",
            provider=call.provider or None,
            model=call.model,
        )


T = TypeVar("T", bound=Message | Part)

AS_RECEIVED = "as_received"
"""A key among provider names for the original values of what AbstractCore renamed. It is never sent."""


class HasOptions(Protocol):
    """A call or another input, a message, or a part that can have options."""

    @property
    def provider_options(self) -> ProviderOptions:
        """Options by provider."""
        ...


def with_options(
    block: Object, item: HasOptions, path: str, provider: str, modelled: Collection[str], warnings: list[CallWarning]
) -> Object:
    """Returns `block`, written for `item` at `path`, with the item's options for `provider`.

    `modelled` are the fields that the schema models. Raises `InvalidInputError` with the path of an option that is one
    of them; options for other providers are reported.
    """
    if item.provider_options:
        _name_the_others(item, path, provider, warnings)
        for name, value in item.provider_options.get(provider, {}).items():
            if name in block or name in modelled:
                field_path = f"{path}.provider_options.{provider}.{name}"
                raise InvalidInputError("the schema has a field for this", path=field_path, hint="Use that field.")
            block[name] = value
    return block


def name_options_left_out(
    item: HasOptions, path: str, provider: str, message: str, warnings: list[CallWarning]
) -> None:
    """Warns of options for which the format has no object; `message` gives the reason."""
    if item.provider_options:
        _name_the_others(item, path, provider, warnings)
        if provider in item.provider_options:
            warnings.append(CallWarning("options_left_out", f"{path}.provider_options.{provider}", message))


def read_options(data: Object, modelled: Collection[str], provider: str) -> ProviderOptions:
    """Returns the fields of `data` that the schema does not model, as options for `provider`; null counts as absent.

    Raises `SchemaError` with the path of an invalid value.
    """
    if not data.keys() - modelled:
        return NO_OPTIONS
    rest = {name: value for name, value in data.items() if name not in modelled and value is not None}
    return cast(ProviderOptions, freeze_object({provider: rest}, "provider_options")) if rest else NO_OPTIONS


def _name_the_others(item: HasOptions, path: str, provider: str, warnings: list[CallWarning]) -> None:
    for other in item.provider_options:
        if other not in (provider, AS_RECEIVED):
            message = f"options for {other!r} are not sent to {provider!r}"
            warnings.append(CallWarning("other_provider_options", f"{path}.provider_options.{other}", message))


def with_options_for(item: T, path: str, provider: str, modelled: Collection[str], warnings: list[CallWarning]) -> T:
    """Returns `item` with its options for `provider` only.

    Raises `InvalidInputError` with the path of one of the fields that are `modelled`.
    """
    given: Any = item
    options: ProviderOptions = getattr(given, "provider_options", NO_OPTIONS)
    if not options:
        return item
    own = with_options({}, given, path, provider, modelled, warnings)
    return given if set(options) == {provider} else replace(given, provider_options={provider: own} if own else {})


def fields_for(item: Any, provider: str) -> JSONObject:
    """Returns the fields that `item` adds to the object written for it."""
    return item.provider_options.get(provider, EMPTY)


def options_for(call: HasOptions, provider: str, warnings: list[CallWarning]) -> JSONObject:
    """Returns the call's options for `provider`, with a warning for those for others."""
    for other in call.provider_options:
        if other != provider:
            message = f"options for {other!r} are not sent to {provider!r}"
            warnings.append(CallWarning("other_provider_options", f"provider_options.{other}", message))
    return call.provider_options.get(provider, EMPTY)


def add_provider_options(
    body: Object,
    call: HasOptions,
    provider: str,
    has_field: Callable[[str, Any], bool],
    warnings: list[CallWarning],
    joined: Collection[str] = (),
) -> None:
    """Adds the call's options for `provider` to the body; those that are `joined` are lists, appended to the body's.

    Raises `InvalidInputError` for another name that the body has, or for which the call has a field.
    """
    for name, value in options_for(call, provider, warnings).items():
        if has_field(name, value) or (name in body and name not in joined):
            raise duplicate_option_error(f"provider_options.{provider}.{name}")
        body[name] = [*body[name], *cast("list[Any]", value)] if name in body else value


def duplicate_option_error(path: str) -> InvalidInputError:
    """Returns the error for an option at `path` that duplicates a field of the call."""
    return InvalidInputError("the call has a field for this", path=path, hint="Use that field.")


_TIER_FIELDS = ("service_tier", "serviceTier")


def request_terms(provider: str, usual: Terms, given: ModelCall | OperationInput) -> Terms:
    """Returns the terms that a call, or an input with `provider_options` of its own, asks for in its options for
    `provider`; `usual` are those that apply without them.
    """
    options = cast("Mapping[str, Any] | None", getattr(given, "provider_options", NO_OPTIONS).get(provider))
    if not options:
        return usual
    window = _text(_member(options.get("background_options"), "completion_window"))
    return Terms(
        _tier(options),
        _text(options.get("inference_geo")) or usual.region,
        None if window is None else f"background_{window}",
    )


def region_of_host(endpoint: Endpoint, usual_url: str | None) -> str | None:
    """Returns the label that the host of an endpoint has and the vendor's usual one does not, as "eu" in
    eu.api.openai.com and api.eu.mistral.ai; None unless it differs by one label.
    """
    if usual_url is None or not isinstance(endpoint, KnownUrl):
        return None
    usual, labels = _labels(usual_url), _labels(endpoint.url)
    added = [i for i in range(len(labels)) if labels[:i] + labels[i + 1 :] == usual]
    return labels[added[0]] if added else None


def _labels(url: str | None) -> list[str]:
    return (urlsplit(url or "").hostname or "").split(".")


def _tier(options: Mapping[str, Any]) -> str | None:
    if options.get("speed") == "fast":
        return "fast"
    for name in _TIER_FIELDS:
        value = options.get(name)
        tier = _text(value) or _text(_member(value, "type"))
        if tier:
            return tier
    latency = _text(_member(options.get("performanceConfig"), "latency"))
    return latency if latency == "optimized" else None


def _member(value: object, name: str) -> object:
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


Record = TypeVar("Record")


class FieldTable(Generic[Record]):
    """The fields of the dataclass `make` by the vendor's names, in the order in which they are written.

    Every field must be listed, so that a new one cannot be forgotten: in `names` (the vendor's name to ours), in
    `elsewhere` (ours to the path at which the format reads it separately) or in `unsupported`, for fields without a
    counterpart. `path` is the prefix of paths in errors. Raises `TypeError` for a field that is not listed or does not
    exist.
    """

    __slots__ = ("_make", "_names", "_paths", "_unsupported")

    def __init__(
        self,
        make: Callable[..., Record],
        names: Mapping[str, str],
        *,
        path: str = "",
        elsewhere: Mapping[str, str] | None = None,
        unsupported: Iterable[str] = (),
    ) -> None:
        self._make = make
        self._names = dict(names)
        self._unsupported = tuple(unsupported)
        self._paths = {ours: f"{path}{theirs}" for theirs, ours in names.items()} | dict(elsewhere or {})
        known = {field.name for field in fields(make)} if is_dataclass(make) else set[str]()
        mentioned = {*self._paths, *self._unsupported}
        if known != mentioned:
            raise TypeError(f"not mentioned: {sorted(known - mentioned)}, no field: {sorted(mentioned - known)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The vendor's names."""
        return tuple(self._names)

    def write(self, record: Record) -> Object:
        """Returns the JSON object of the fields that are set; None and empty tuples are omitted."""
        values = ((theirs, getattr(record, ours)) for theirs, ours in self._names.items())
        return {theirs: _as_json(value) for theirs, value in values if value is not None and value != ()}

    def unsupported(self, record: Record) -> Iterator[tuple[str, JSONValue]]:
        """Returns the fields that are set and have no counterpart, by our names."""
        for name in self._unsupported:
            value = getattr(record, name)
            if value is not None and value != ():
                yield name, _as_json(value)

    def read(self, data: Object, paths: Mapping[str, str] | None = None, /, **elsewhere: Any) -> Record:
        """Reads the dataclass from `data`, with the fields that are read `elsewhere`; `paths` are theirs where these
        vary.

        Raises `SchemaError` with the path in the vendor's field names.
        """
        given = {ours: data[theirs] for theirs, ours in self._names.items() if data.get(theirs) is not None}
        try:
            return self._make(**given, **elsewhere)
        except SchemaError as error:
            name, bracket, rest = error.path.partition("[")
            known = {**self._paths, **(paths or {})}
            raise SchemaError(error.message, f"{known.get(name, name)}{bracket}{rest}") from None


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


SAMPLING_OPTIONS = (
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "stop",
    "top_logprobs",
)
"""The fields of `Sampling` that some models reject: all except `max_output_tokens`, in the order sent."""


def write_sampling(
    table: FieldTable[Sampling],
    sampling: Sampling,
    warnings: list[CallWarning],
    *,
    highest_temperature: float | None = None,
) -> Object:
    """Returns the fields of a request, with a warning for unsupported options and for a temperature too high."""
    temperature = sampling.temperature
    if temperature is not None and highest_temperature is not None and temperature > highest_temperature:
        message, sent = f"the highest temperature is {highest_temperature:g}", highest_temperature
        warnings.append(CallWarning("temperature_changed", "sampling.temperature", message, temperature, sent))
        sampling = replace(sampling, temperature=sent)
    warnings += [unsupported(f"sampling.{name}", value, name) for name, value in table.unsupported(sampling)]
    return table.write(sampling)
