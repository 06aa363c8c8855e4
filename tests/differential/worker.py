"""Runs the wire formats of one tree on inputs (JSON lines), and writes the results as JSON lines.

Runs by itself, as `python -P worker.py TREE INPUTS OUTCOMES`, with the tree's packages first on the path. It finds
formats and providers by their registration and imports public names only, so that it works in any revision with these.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import abstractcore
import abstractcore_providers
from abstractcore import errors
from abstractcore.engine import lower
from abstractcore.ports import ProviderConfig
from abstractcore.schema import (
    CallWarning,
    Delta,
    Encoded,
    Message,
    ModelCall,
    ModelReply,
    WireRequest,
    WireResponse,
    accumulate,
    from_data,
    from_json,
)
from abstractcore_providers.plugin import register_providers, register_wire_formats

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "an-id",
    "AWS_REGION": "eu-central-1",
    "AWS_SECRET_ACCESS_KEY": "a-secret",
    "CLOUDFLARE_ACCOUNT_ID": "an-account",
    "DATABRICKS_HOST": "https://databricks.example",
    "GOOGLE_CLOUD_LOCATION": "europe-west1",
    "GOOGLE_CLOUD_PROJECT": "a-project",
    "OPENAI_API_VERSION": "2024-10-21",
}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "azure": {"resource": "a-resource"},
    "bedrock": {"region": "us-east-1"},
    **{
        provider: {"project": "a-project", "access_token": "a-token"}
        for provider in ("vertex", "vertex-anthropic", "vertex-openai")
    },
}
"""Required options beside model and API key."""
NO_KEY = ("bedrock", "vertex", "vertex-anthropic", "vertex-openai", "local")
ERROR_FACTS = (
    *("path", "provider", "model", "status", "code", "request_id", "retry_after", "retryable", "partial"),
    *("prompt_tokens", "context_tokens"),
)
FORMATS = {format.name: format for format in register_wire_formats()}
PROVIDERS = {provider.name: provider for provider in register_providers()}
CATALOGUE = getattr(abstractcore.Services(environment={}), "catalogue", None)
_ALL_FILES = frozenset({"audio", "document", "image", "text", "video"})
Input = Mapping[str, Any]
Outcome = dict[str, Any]
"""`facts` are compared exactly; `wording` has the texts for people: messages and hints."""


def session(provider: str, model: str | None) -> Any:
    """A session as `create_llm` creates it, independent of this machine's environment."""
    key = None if provider in NO_KEY else "a-key"
    url = "https://example.com/v1" if provider == "openai-compatible" else None
    config = ProviderConfig(provider, model, url, key, OPTIONS.get(provider, {}))
    services: Any = SimpleNamespace(models=None, environment=ENVIRONMENT, spare_cores=2, catalogue=CATALOGUE)
    return PROVIDERS[provider].connect(config, services)


class SessionFormat:
    """The transpiler of a session, which encodes a call after it is lowered for the session's model, with all files.

    Where a change is made, in lowering or in the format, does not matter: warnings are sorted.
    """

    def __init__(self, session: Any) -> None:
        self._transpiler = session.transpiler
        self._profile = dataclasses.replace(session.profile, accepts=_ALL_FILES, accepts_prefill=True)
        self._rules = getattr(session, "lower", None)
        """Earlier revisions have rules of models beside their profiles."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transpiler, name)

    def encode(self, call: ModelCall) -> Encoded:
        return self.encoded(call, self._transpiler.encode)

    def encoded(self, call: ModelCall, encode: Callable[[ModelCall], Encoded]) -> Encoded:
        rules = () if self._rules is None else (self._rules,)
        lowered = lower(call, self._profile, (), *rules)
        encoded = encode(lowered.call)
        return Encoded(encoded.request, tuple(sorted((*lowered.warnings, *encoded.warnings), key=_facts_first)))


_transpilers: dict[tuple[str, str | None], Any] = {}


def transpiler(of: Input) -> Any:
    """The format in its vendor's own dialect, or in that of a session with a model."""
    key = (of.get("provider") or of["format"], of.get("model"))
    if key not in _transpilers:
        _transpilers[key] = SessionFormat(session(*key)) if "provider" in of else FORMATS[key[0]].transpiler()
    return _transpilers[key]


# From JSON


def written_bytes(data: bytes) -> Any:
    """Bytes as JSON: a string where they are UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def read_bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])


def a_request(value: Any) -> WireRequest:
    return WireRequest(value["url"], value["headers"], read_bytes(value["body"]))


def a_response(value: Any) -> WireResponse:
    return WireResponse(value["status"], value["headers"], read_bytes(value["body"]))


def a_delta(value: Any) -> Delta:
    found: Any = from_json(json.dumps(value))
    return found


def an_error(value: Any) -> Any:
    return getattr(errors, value["type"])(value["message"], **value["fields"])


# To JSON


def _facts_first(warning: CallWarning) -> tuple[str, str, str]:
    """The place of a warning among others, which another message alone does not change."""
    return warning.path, warning.code, repr((warning.requested, warning.sent))


def as_json(value: Any, wording: list[Any]) -> Any:
    """Returns any result as JSON, with every field; texts for people go to `wording`."""
    if isinstance(value, bytes):
        return written_bytes(value)
    if isinstance(value, BaseException):
        return as_error(value, wording)
    if type(value).__name__ == "CallWarning":
        wording.append(value.message)
        values = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return [as_json(item, wording) for name, item in values.items() if name != "message"]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        held = {field: getattr(value, field.name) for field in dataclasses.fields(value)}
        fields = {field.name: as_json(item, wording) for field, item in held.items() if not is_default(field, item)}
        return {"is": type(value).__name__, **fields}
    if isinstance(value, Mapping):
        return {str(key): as_json(item, wording) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(as_json(item, wording) for item in value)
    if isinstance(value, list | tuple):
        return [as_json(item, wording) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    """Whether a revision without the field would mean the same."""
    return type(value) is type(field.default) and value == field.default


def as_error(error: BaseException, wording: list[Any]) -> Any:
    wording += [getattr(error, "message", str(error)), getattr(error, "hint", None)]
    facts = {name: as_json(getattr(error, name, None), wording) for name in ERROR_FACTS}
    return {"error": type(error).__name__, **{name: fact for name, fact in facts.items() if fact is not None}}


# Operations


def _stream(transpiler: Any, of: Input) -> Iterator[Any]:
    """The deltas of each chunk, as the engine reads them, then the accumulated reply."""
    framer, decoder = transpiler.framer(), transpiler.decoder()
    body, size = read_bytes(of["body"]), of["size"]
    yield framer.accepts(body[:16])
    so_far: list[Delta] = []

    def read(frames: Iterable[Any]) -> Iterator[Any]:
        for frame in frames:
            if not decoder.complete:
                deltas = decoder.feed(frame)
                so_far.extend(deltas)
                yield deltas

    for start in range(0, len(body), size or len(body) or 1):
        yield from read(framer.feed(body[start : start + size] if size else body))
    if not decoder.complete:
        yield from read(framer.finish())
    yield decoder.complete
    deltas = decoder.finish()
    so_far.extend(deltas)
    yield deltas
    yield accumulate(so_far)


def _render_stream(transpiler: Any, of: Input) -> Iterator[Any]:
    renderer = transpiler.renderer()
    for delta in of["deltas"]:
        yield renderer.feed(a_delta(delta))
    yield renderer.error(an_error(of["error"])) if "error" in of else renderer.finish()


def _connect(_: Any, of: Input) -> Iterator[Any]:
    """The profile, the base URL and headers, and requests for the model."""
    made = session(of["provider"], of["model"])
    yield made.profile
    for data in of["calls"]:
        call = _call({**data, "model": made.model, "provider": of["provider"]})
        yield SessionFormat(made).encode(call)
    yield [made.model, made.own_process]
    if not made.own_process:
        address = _opened(made.endpoint)
        signed = address.auth.sign(WireRequest("https://example.com/x", {}, b"{}"), 1.0e9)
        yield [address.url, address.query, signed.url, signed.headers]


def _opened(endpoint: Any) -> Any:
    try:
        endpoint.open(None).send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the endpoint waits for something")


def _call(value: Any) -> ModelCall:
    return from_data(ModelCall, value)


def _operation(transpiler: Any, name: str, **arguments: Any) -> Any:
    """The operation `name`: its `encode` of a call and `decode`. Older revisions have functions of the arguments, or a
    pair of methods for each.
    """
    if hasattr(transpiler, "operations"):
        found = transpiler.operations[name]
        return found(**arguments) if callable(found) else _with_input(found, arguments)
    encode, decode = _METHODS[name]
    if name == "count_tokens":
        return SimpleNamespace(encode=getattr(transpiler, encode), decode=getattr(transpiler, decode))
    if name == "cached_contents.create":
        return SimpleNamespace(encode=lambda call: getattr(transpiler, encode)(call, **arguments))
    return SimpleNamespace(
        encode=lambda call: getattr(transpiler, encode)(**arguments), decode=getattr(transpiler, decode)
    )


def _with_input(operation: Any, arguments: Mapping[str, Any]) -> Any:
    """The `encode` of a call and the `decode` of an operation whose inputs have `arguments`."""

    def input_of(call: ModelCall) -> Any:
        if operation.input is ModelCall:
            return call
        return operation.input(**arguments, **({"call": call} if operation.takes_call else {"model": call.model}))

    return SimpleNamespace(
        encode=lambda call: operation.encode(input_of(call)), decode=lambda response: operation.decode(response, None)
    )


_METHODS = {
    "count_tokens": ("encode_count", "decode_count"),
    "cached_contents.create": ("encode_keeping", "decode_kept"),
    "cached_contents.read": ("encode_kept", "decode_kept"),
    "cached_contents.extend": ("encode_extension", "decode_kept"),
    "cached_contents.delete": ("encode_deletion", "decode_kept"),
}


def _kept(transpiler: Any, of: Input) -> Iterator[Any]:
    call = ModelCall("m", (Message.user("n"),), "p")
    for action, arguments in (("read", {}), ("extend", {"seconds": of["seconds"]}), ("delete", {})):
        yield _operation(transpiler, f"cached_contents.{action}", name=of["name"], **arguments).encode(call)


def _encode_count(transpiler: Any, of: Input) -> Encoded:
    """Without warnings about sampling, which token counts do not have."""
    encode, call = _operation(transpiler, "count_tokens").encode, _call(of["call"])
    found = transpiler.encoded(call, encode) if isinstance(transpiler, SessionFormat) else encode(call)
    kept = [warning for warning in found.warnings if not warning.path.startswith("sampling.")]
    return Encoded(found.request, tuple(kept))


OPERATIONS: Mapping[str, Callable[[Any, Input], Any]] = {
    "encode": lambda t, of: t.encode(_call(of["call"])),
    "encode_count": _encode_count,
    "encode_keeping": lambda t, of: _operation(
        t, "cached_contents.create", seconds=of["seconds"], title=of["title"]
    ).encode(_call(of["call"])),
    "encode_kept": _kept,
    "parse": lambda t, of: t.parse(a_request(of["request"])),
    "read_message": lambda t, of: t.read_message(of["value"], of["path"], of["of_model"]),
    "decode": lambda t, of: t.decode(a_response(of["response"])),
    "decode_count": lambda t, of: _operation(t, "count_tokens").decode(a_response(of["response"])),
    "decode_kept": lambda t, of: _operation(t, "cached_contents.read", name="n").decode(a_response(of["response"])),
    "error": lambda t, of: t.error(a_response(of["response"])),
    "stream": _stream,
    "render": lambda t, of: t.render(from_data(ModelReply, of["reply"])),
    "render_stream": _render_stream,
    "render_error": lambda t, of: t.render_error(an_error(of["error"])),
    "connect": _connect,
}
"""Operations by name. One that yields its results keeps those before an error."""


def outcome(of: Input) -> Outcome:
    """The outcome of one input; an exception of any kind is an outcome, too."""
    wording: list[Any] = []
    facts: list[Any] = []
    try:
        apart = of["operation"] == "connect"
        found = OPERATIONS[of["operation"]](None if apart else transpiler(of), of["with"])
        for each in found if isinstance(found, Iterator) else [found]:
            facts += [as_json(each, wording)]
    except Exception as error:
        facts.append(as_error(error, wording))
    return {"facts": facts, "wording": wording}


def in_tree(tree: Path) -> bool:
    modules = (abstractcore, abstractcore_providers)
    return all(Path(module.__file__ or "").resolve().is_relative_to(tree.resolve()) for module in modules)


def main(tree: str, inputs: str, outcomes: str) -> None:
    if not in_tree(Path(tree)):
        raise SystemExit(f"{abstractcore.__file__} is not in {tree}")
    with Path(inputs).open() as lines, Path(outcomes).open("w") as out:
        for line in lines:
            out.write(json.dumps(outcome(json.loads(line))) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
