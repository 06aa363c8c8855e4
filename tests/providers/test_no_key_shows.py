"""Servers that quote the received credential, everywhere and in every encoding: it is redacted everywhere."""

from __future__ import annotations

import base64
import html
import logging
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

import httpx2
import pytest

from abstractcore import AbstractCoreError, CallRecord, create_llm, record, to_json
from abstractcore.ports import Address, ModelProfile, ProviderSession
from abstractcore.registry import Registry
from abstractcore_providers.common.endpoints import FixedEndpoint
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.vendors.google import CachedContents
from tests.chaos_server import CUT, PATIENCE_SECONDS, answer, chunk, completion, delta, event, stream_head
from tests.providers.operations import ask, has_chat

KEY = "sk-canary-0123/456+789=abc"
OTHER = "other-canary-secret-0123/456+789="
"""The second half of credentials that have two."""
_STANDARD = str.maketrans("-_", "+/")
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{11,}")


def decodings(text: str) -> Iterator[str]:
    """`text` as it can be read by who wants to: as it is, unescaped, and every word of it decoded."""
    readings = {text, unquote(text), unquote_plus(text), html.unescape(text), text.replace("\\/", "/")}
    yield from readings
    for token in {token for each in readings for token in _TOKEN.findall(each)}:
        for start in range(4):
            word = token[start:].translate(_STANDARD)
            yield base64.b64decode(word + "A" * (-len(word) % 4)).decode("latin-1")
        if len(token) % 2 == 0 and re.fullmatch("[0-9A-Fa-f]+", token):
            yield bytes.fromhex(token).decode("latin-1")


def shows(text: str) -> bool:
    return any("canary" in each.lower() for each in decodings(text))


def test_search_finds_planted_credentials():
    for quoted in quotes(KEY):
        assert shows(f"it says {quoted}."), quoted
    assert not shows("sk-c is a beginning")


def quotes(key: str) -> list[str]:
    """How vendors and gateways quote a key."""
    encoded = base64.b64encode(key.encode()).decode()
    return [
        key,
        key.upper(),
        quote(key, ""),
        quote(key, "").lower(),
        html.escape(key),
        key.replace("/", "\\/"),
        encoded,
        base64.urlsafe_b64encode(key.encode()).decode(),
        base64.b64encode(f"Bearer {key}".encode()).decode(),
        base64.b64encode(f"me:{key}".encode()).decode(),
        key.encode().hex(),
        key[:14] + "...",
        key[:12] + "*" * 12 + key[-4:],
        key[: len("sk-canary")],
    ]


def quoting(key: str) -> str:
    return "Incorrect API key provided: " + ", ".join(quotes(key)) + ". See the docs."


def body(*keys: str) -> dict[str, Any]:
    """An error that every format reads a message from."""
    message = " ".join(map(quoting, keys))
    detail = {"message": message, "type": "authentication_error", "code": "invalid_api_key", "status": keys[0]}
    return {"type": "error", "error": detail, "message": message, "detail": message, "__type": "UnrecognizedClient"}


def everything(error: BaseException) -> str:
    """All that can be seen of an error, and of those it comes from."""
    texts = ["".join(traceback.format_exception(error)), str(error), repr(error), repr(vars(error))]
    for each in chain(error):
        texts += [str(each), repr(each), repr(vars(each)), repr(each.args)]
    texts.append(pickle.dumps(error).decode("latin-1"))
    return "\n".join(texts)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        yield from getattr(error, "exceptions", ())
        error = error.__cause__ or error.__context__


REGISTRY = Registry.from_entry_points()
KEYS: dict[str, dict[str, Any]] = {
    "bedrock": {
        "region": "us-east-1",
        "credentials": {
            "aws_access_key_id": KEY,
            "aws_secret_access_key": OTHER,
            "aws_session_token": "session-canary-0123456789",
        },
    },
    **{name: {"project": "p", "access_token": KEY} for name in ("vertex", "vertex-anthropic", "vertex-openai")},
    "azure": {"api_key": KEY, "resource": "r"},
}
PROVIDERS = [name for name in REGISTRY.providers if name not in ("scripted", "local")]


def failing(status: int, *keys: str, **headers: str) -> list[Any]:
    return [answer(body(*keys), status, x_request_id=keys[0], **headers)]


SECRETS = {"bedrock": (KEY, OTHER, "session-canary-0123456789")}
PATHS: dict[str, Callable[[tuple[str, ...]], list[Any]]] = {
    **{str(status): lambda keys, status=status: failing(status, *keys) for status in (400, 401, 403, 404, 409, 500)},
    "redirect": lambda keys: failing(307, *keys, location=f"https://elsewhere/?key={KEY}"),
    "no JSON": lambda keys: [answer(quoting(KEY).encode(), 401, content_type="text/plain")],
    "broken JSON": lambda keys: [answer(b'{"error": "' + quoting(KEY).encode() + b"\xff", 502)],
    "a web page": lambda keys: [answer(f"<h1>{quoting(KEY)}</h1>".encode(), 200, content_type="text/html")],
    "an error in an answer": lambda keys: [answer(body(*keys), 200, x_request_id=KEY)],
    "an answer that is none": lambda keys: [answer({quoting(KEY): [quoting(KEY)]}, 200)],
    "a cut body": lambda keys: [answer(body(*keys), 401)[:-20], CUT],
    "an unknown encoding": lambda keys: [answer(b"x", 200, content_encoding=quote(KEY))],
    "an error in a stream": lambda keys: [stream_head() + chunk(delta("a")) + chunk(event(body(*keys))), CUT],
    "a cut event": lambda keys: [stream_head() + chunk(delta("a")) + chunk(event(body(*keys))[:-40]), CUT],
    "a cut stream that quoted it": lambda keys: [stream_head() + chunk(delta(quoting(KEY))), CUT],
}


class Watch:
    """Everything visible of calls: errors, records, logs and recordings, except model output."""

    def __init__(self, call_style, services, caplog, path) -> None:
        self.path = path
        self.failures = 0
        self._calls, self._services, self._caplog = call_style, services, caplog

    def seen(self, use: Callable[[], object], capture: str = "full") -> str:
        """All that is seen while `use` runs and fails, or does not."""
        records: list[CallRecord] = []
        texts: list[str] = []
        self._caplog.clear()
        with self._services.records.subscribe(records.append, capture):
            try:
                use()
            except Exception as error:  # any is looked at
                self.failures += 1
                texts.append(everything(error))
                logging.getLogger("abstractcore").exception("failed")
        assert self._services.records.flush(PATIENCE_SECONDS)
        for each in records:
            texts += map(repr, (each.error, each.attempts, each.warnings, each.call, each.tags))
            if each.reply is None:
                texts += to_json(each), repr(each), pickle.dumps(each).decode("latin-1")
        if self.path.exists():
            texts.append(self.path.read_text(errors="surrogateescape"))
        return "\n".join((*texts, self._caplog.text))

    def asking(self, llm, *, stream: bool = False, **options: Any) -> Callable[[], object]:
        """A call to be made."""
        if not has_chat(llm):
            return lambda: ask(llm)
        if stream:
            return lambda: list(self._calls.stream(llm, "hi", **options))
        return lambda: self._calls.generate(llm, "hi", **options)


@pytest.fixture
def watch(call_style, services, caplog, tmp_path) -> Watch:
    return Watch(call_style, services, caplog, tmp_path / "recording.jsonl")


@pytest.mark.exhaustive
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", PROVIDERS)
def test_quoted_key_is_redacted_with_every_provider(server, services, watch, name, stream):
    """Every vendor's row and format, and every way in which an answer can fail."""
    options = {**KEYS.get(name, {"api_key": KEY}), "base_url": f"{server.url}/v1"}
    for path, script in PATHS.items():
        server.script(*script(SECRETS.get(name, (KEY,))))
        middleware = [record(watch.path)]
        llm = create_llm(name, "m", services=services, max_retries=0, middleware=middleware, **options)
        assert not shows(watch.seen(watch.asking(llm, stream=stream))), path
    assert watch.failures >= len(PATHS) - 3
    assert KEY in str(server.requests[0].headers)


@pytest.mark.parametrize("stream", [False, True])
def test_without_redaction_the_key_would_show(server, services, watch, monkeypatch, stream):
    monkeypatch.setattr("abstractcore.scrubbing.secrets.SecretScanner.scrubbed", lambda self, text: text)
    server.script(*failing(401, KEY))
    llm = create_llm("openai", "m", services=services, api_key=KEY, base_url=server.url)
    assert shows(watch.seen(watch.asking(llm, stream=stream)))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("where", ["before", "after", "around a failure", "of its own kind"])
@pytest.mark.parametrize("ring", ["around_call", "around_attempt"])
def test_middleware_exceptions_do_not_show_the_key(server, services, watch, ring, where, stream):
    class Crashing:
        async def _run(self, given, next):
            if where == "before":
                raise ValueError(f"without {KEY}") from KeyError(quoting(KEY))
            try:
                await next(given)
            except AbstractCoreError as error:
                if where == "of its own kind":
                    raise FixedError from error
                raise RuntimeError(f"failed with {KEY}: {error}") from error
            raise ValueError(f"after {KEY}")

    class FixedError(AbstractCoreError):
        def __init__(self) -> None:
            super().__init__(f"of {KEY}")

        def __reduce__(self):
            return FixedError, ()

    setattr(Crashing, ring, Crashing._run)
    if where != "before":
        server.script(*(failing(401, KEY) if where != "after" else [completion()]))
    llm = create_llm(
        "openai", "m", services=services, api_key=KEY, base_url=server.url, max_retries=0, middleware=[Crashing()]
    )
    if where == "of its own kind":
        with pytest.raises(AbstractCoreError) as caught:
            watch.asking(llm, stream=stream)()
        assert not shows(str(caught.value) + repr(vars(caught.value)) + repr(caught.value.__cause__))
    else:
        assert not shows(watch.seen(watch.asking(llm, stream=stream)))
        assert watch.failures == 1


def test_subscriber_and_listener_exceptions_do_not_show_the_key(server, services, watch):
    class Listening:
        async def around_call(self, context, next):
            def crash(end):
                raise ValueError(f"at the end of {KEY}: {end.error}")

            context.at_end.append(crash)
            return await next(context)

    def crash(record: CallRecord) -> None:
        raise RuntimeError(f"no place for {KEY} of {record.error}")

    server.script(*failing(401, KEY))
    llm = create_llm(
        "openai", "m", services=services, api_key=KEY, base_url=server.url, max_retries=0, middleware=[Listening()]
    )
    with services.records.subscribe(crash):
        text = watch.seen(watch.asking(llm))
    assert "background work failed" in text
    assert "at the end of" in text
    assert not shows(text)


def operations(call_style, llm) -> dict[str, Callable[[], object]]:
    contents = CachedContents(llm)
    if call_style.name == "sync":
        return {
            "count": lambda: llm.count_tokens("hi"),
            "create": lambda: contents.create("hi", seconds=60),
            "read": lambda: contents.read("x"),
            "extend": lambda: contents.extend("x", seconds=60),
            "delete": lambda: contents.delete("x"),
        }
    return {
        "count": lambda: call_style.run(llm.acount_tokens("hi")),
        "create": lambda: call_style.run(contents.acreate("hi", seconds=60)),
        "read": lambda: call_style.run(contents.aread("x")),
        "extend": lambda: call_style.run(contents.aextend("x", seconds=60)),
        "delete": lambda: call_style.run(contents.adelete("x")),
    }


@pytest.mark.parametrize("operation", ["count", "create", "read", "extend", "delete"])
def test_operations_do_not_show_the_key(call_style, server, services, watch, operation):
    server.script(*failing(401, KEY))
    server.script(answer(f"<p>{quoting(KEY)}".encode(), 200, content_type="application/json"))
    llm = create_llm(
        "google",
        "m",
        services=services,
        api_key=KEY,
        base_url=server.url,
        max_retries=0,
        middleware=[record(watch.path)],
    )
    for _ in range(2):
        assert not shows(watch.seen(operations(call_style, llm)[operation]))
    assert watch.failures == (1 if operation == "delete" else 2)


@pytest.mark.parametrize("way", ["headers", "auth", "cookies", "params", "hook"])
def test_credentials_of_a_custom_http_client_do_not_show(call_style, server, services, watch, way):
    def sign(request) -> None:
        request.headers["x-signature"] = KEY

    async def asign(request) -> None:
        sign(request)

    hook = sign if call_style.name == "sync" else asign
    options: dict[str, Any] = {
        "headers": {"headers": {"X-Gateway-Token": KEY}},
        "auth": {"auth": ("me", KEY)},
        "cookies": {"cookies": {"session": KEY}},
        "params": {"params": {"key": KEY}},
        "hook": {"event_hooks": {"request": [hook]}},
    }[way]
    kind = httpx2.Client if call_style.name == "sync" else httpx2.AsyncClient
    client = kind(trust_env=False, **options)
    llm = create_llm(
        "openai-compatible",
        "m",
        services=services,
        base_url=server.url,
        max_retries=0,
        http_client=client,
        middleware=[record(watch.path)],
    )
    for stream in (False, True):
        server.script(*failing(401, KEY))
        assert not shows(watch.seen(watch.asking(llm, stream=stream)))
    server.script(stream_head() + chunk(delta("a")) + chunk(event(body(KEY))), CUT)
    assert not shows(watch.seen(watch.asking(llm, stream=True)))
    assert watch.failures == 3
    call_style.run(client.aclose()) if call_style.name == "async" else client.close()


@pytest.mark.parametrize("library", ["httpx2", "fast"])
def test_proxy_passwords_do_not_show(call_style, services, watch, server, library):
    """The proxy quotes what it was shown."""
    password = "canary-password"
    server.script(*[answer(body(base64.b64encode(f"user:{password}".encode()).decode(), password), 407)])
    llm = create_llm(
        "openai-compatible",
        "m",
        services=services,
        base_url="http://provider.test/v1",
        proxy=server.url.replace("//", f"//user:{password}@"),
        transport=library,
        max_retries=0,
        middleware=[record(watch.path)],
    )
    assert not shows(watch.seen(watch.asking(llm)))
    assert watch.failures == 1
    assert "proxy-authorization" in server.requests[0].headers


class Vendor:
    """A vendor whose credential goes where it likes."""

    name, summary = "vendor", "signs in its own way"

    def __init__(self, url: str, way: str) -> None:
        self._url, self._way = url, way

    @property
    def options(self):
        return {}

    def sign(self, request, now):
        if self._way == "parameter":
            return request.with_url(f"{request.url}?key={quote(KEY, '')}")
        return request.with_headers({"x-whom": KEY})

    def connect(self, config, services) -> ProviderSession:
        return ProviderSession("m", OpenAIChat(), FixedEndpoint(Address(self._url, self)), ModelProfile())


@pytest.mark.parametrize("way", ["parameter", "header"])
@pytest.mark.parametrize("stream", [False, True])
def test_credentials_of_a_plugin_auth_do_not_show(server, services, watch, way, stream):
    services._registry = Registry()
    services._registry.add_provider(Vendor(server.url, way))
    llm = create_llm("vendor", services=services, max_retries=0, middleware=[record(watch.path)])
    server.script(*failing(401, KEY))
    assert not shows(watch.seen(watch.asking(llm, stream=stream)))
    server.script(*failing(404, KEY))
    assert not shows(watch.seen(watch.asking(llm, stream=stream)))
    assert KEY in str(server.requests[0].headers) + unquote(server.requests[0].target)


def test_failed_creation_does_not_show_its_options(services):
    class Broken(Vendor):
        @property
        def options(self):
            return {"access_token": "a token"}

        def connect(self, config, services):
            raise ValueError(f"cannot use {config.api_key}, {config.options['access_token']} or {config.base_url}")

    services._registry = Registry()
    services._registry.add_provider(Broken("", ""))
    with pytest.raises(AbstractCoreError) as caught:
        create_llm(
            "vendor",
            services=services,
            api_key=KEY,
            access_token=OTHER,
            base_url="https://user:canary-password@host",
        )
    assert not shows(everything(caught.value))


def test_model_output_is_not_redacted(call_style, server, services):
    """Only errors, records of them, logs and recordings are scrubbed."""
    server.script(completion(f"Your key is {KEY}."))
    llm = create_llm("openai", "m", services=services, api_key=KEY, base_url=server.url)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, "full"):
        assert call_style.generate(llm, f"Is it {KEY}?").content == f"Your key is {KEY}."
    assert records[0].reply.text == f"Your key is {KEY}."
    assert records[0].call.messages[0].text == f"Is it {KEY}?"


def test_call_options_with_the_key_are_redacted_in_records(call_style, server, services):
    server.script(completion())
    llm = create_llm("openai", "m", services=services, api_key=KEY, base_url=server.url)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, "full"):
        call_style.generate(llm, "hi", provider_options={"openai": {"mcp": [{"authorization": f"Bearer {KEY}"}]}})
    assert KEY in server.requests[0].body.decode()
    assert not shows(to_json(records[0]))


def test_error_without_a_credential_is_unchanged(call_style, server, services):
    message = "The model `m` does not exist or you do not have access to it. Keys begin with sk-..."
    server.script(answer({"error": {"message": message, "code": "model_not_found"}}, 404))
    services.environment = {"OPENAI_API_KEY": KEY}
    llm = create_llm("openai", "m", services=services, base_url=server.url)
    with pytest.raises(AbstractCoreError) as caught:
        call_style.generate(llm, "hi")
    assert caught.value.message == message


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("given", ["to the LLM", "to the call"])
def test_credentials_in_custom_headers_do_not_show(server, services, watch, given, stream):
    headers = {"X-Gateway-Token": KEY, "X-Team": "search-and-find"}
    of_llm, of_call = ({"headers": headers}, {}) if given == "to the LLM" else ({}, {"headers": headers})
    server.script(answer(body(KEY, "search-and-find"), 401))
    llm = create_llm(
        "openai-compatible",
        "m",
        services=services,
        base_url=server.url,
        max_retries=0,
        middleware=[record(watch.path)],
        **of_llm,
    )
    text = watch.seen(watch.asking(llm, stream=stream, **of_call))
    assert not shows(text)
    assert "search-and-find" in text
    assert server.requests[0].headers["x-gateway-token"] == KEY


def test_credentials_of_one_call_are_not_searched_in_others(call_style, server, services):
    llm = create_llm("openai-compatible", "m", services=services, base_url=server.url, max_retries=0)
    for headers in ({"X-Gateway-Token": "token-of-one-user"}, {}):
        server.script(answer(body("token-of-one-user"), 401))
        with pytest.raises(AbstractCoreError) as caught:
            call_style.generate(llm, "hi", headers=headers)
        assert ("token-of-one-user" in str(caught.value)) == (not headers)
