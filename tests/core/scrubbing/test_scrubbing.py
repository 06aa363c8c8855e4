"""Redaction of credentials in texts and exceptions, in every encoding."""

from __future__ import annotations

import base64
import html
import json
import logging
import pickle
import traceback
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import AuthenticationError, InvalidInputError, ModelReply, TextPart, create_llm, to_json
from abstractcore.schema import AttemptRecord
from abstractcore.scrubbing import (
    SCRUBBED,
    Secrets,
    credentials_in,
    credentials_of,
    is_sensitive,
    scrub_logs,
)
from abstractcore.scrubbing.secrets import SecretScanner
from tests.chaos_server import failure

KEY = 'sk-canary-01/23+45="67"-Wxyz'
SECRETS = Secrets([KEY])


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        KEY.upper(),
        KEY.lower(),
        quote(KEY),
        quote(KEY, ""),
        quote_plus(KEY),
        quote(KEY, "").lower(),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY)[1:-1].replace("/", "\\/"),
        html.escape(KEY),
        repr(KEY.encode())[2:-1],
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
        b64(KEY),
        b64(KEY).rstrip("="),
        b64(KEY)[:16],
        base64.urlsafe_b64encode(KEY.encode()).decode(),
        quote(b64(KEY), ""),
        KEY[:8],
        KEY[:9] + "...",
        KEY[:12] + "*" * 20 + KEY[-4:],
        KEY[:12] + "…",
        KEY[:5] + "***" + KEY[-3:],
        "****" + KEY[-4:],
        "..." + KEY[-6:],
        KEY[:6] + "xxxxxxxx",
    ],
)
def test_credential_is_redacted_in_every_encoding_and_the_rest_is_unchanged(form):
    assert SECRETS.text(f"Incorrect key: {form}, see the docs.") == f"Incorrect key: {SCRUBBED}, see the docs."
    assert SECRETS.text(f"({form})") == f"({SCRUBBED})"
    assert SECRETS.text(form) == SCRUBBED


@pytest.mark.parametrize("around", ["", "a", "me", "user:", "Bearer "])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_redacted_text_contains_no_decodable_part_of_a_credential(around, encode):
    text = encode(f"{around}{KEY}{around}".encode()).decode()
    left = SECRETS.text(f"It was {text} then.")
    assert left.endswith(f"{SCRUBBED} then.")
    encoded = left.removeprefix("It was ").removesuffix(f"{SCRUBBED} then.")
    assert base64.urlsafe_b64decode(encoded + "A" * (-len(encoded) % 4))[:-2].decode("utf-8", "replace") in (
        around + KEY[:2]
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The model `gpt-5` does not exist or you do not have access to it.",
        "Keys begin with sk-... and have 51 characters.",
        "sk-can is too short",
        "wait... then try again",
        "*** important ***",
        "Wxyz",
        "0123",
        "xxxxxxxx",
        "/v1/chat/completions?alt=sse",
    ],
)
def test_other_texts_are_unchanged(text):
    assert SECRETS.text(text) is text


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=200),
    st.text(max_size=20),
    st.text(max_size=20),
    st.integers(8, 200),
)
def test_no_prefix_of_eight_characters_of_a_credential_remains(secret, before, after, length):
    scrubbed = Secrets([secret]).text(f"{before} {secret[:length]} {after}")
    assert secret[:8].lower() not in scrubbed.replace(SCRUBBED, "").lower()


@given(st.text(min_size=1, max_size=40), st.text(max_size=100))
def test_any_text_can_be_a_secret_and_be_redacted(secret, text):
    assert isinstance(Secrets([secret, "\udc80" + secret]).text(text + "\udc80"), str)


SHORT = (
    "x",
    "a",
    "ab",
    "k-1",
    "test",
    "ollama",
    "EMPTY",
    "1234",
    "7",
    "p@ss",
    "hunter2",
    "sk-12",
    "pass.wd",
    "a b c",
    'q"uo"',
    "né&1",
)
EVERYWHERE = ("p@ss", "hunter2", "sk-12", "pass.wd", "a b c", 'q"uo"', "né&1")
"""Those that no text has as a word."""
NAMED = (
    "Incorrect API key provided: {}.",
    "api_key={}",
    '{{"api_key": "{}"}}',
    "Authorization: Bearer {}",
    "the token '{}' has expired",
    "password: {}",
)
ANYWHERE = ("{} is not valid", "cannot log in as {}, try again", "https://h/v1?q={}&b=1", "({})", "{}")
PROSE = """A test of the model x at http://api.test/v1: 1 of 1234 requests failed, see https://h/test/a?x=1 (a, b).
    Start ollama-test with `ollama serve`; unit-test, test_1 and tests are other words, and so is axe. None is EMPTY."""


@pytest.mark.parametrize("secret", SHORT)
def test_short_credential_is_redacted_as_a_whole_word(secret: str):
    secrets = Secrets([secret])
    for form in dict.fromkeys((secret, quote(secret, ""), json.dumps(secret)[1:-1], html.escape(secret))):
        for text in NAMED:
            if form == secret or secret in EVERYWHERE:
                assert secrets.text(text.format(form)) == text.format(SCRUBBED)
        for text in ANYWHERE:
            is_found = secret in EVERYWHERE
            assert secrets.text(text.format(form)) == text.format(SCRUBBED if is_found else form)
    if secret in EVERYWHERE:
        assert secrets.text(f"sent {base64.b64encode(secret.encode()).decode()} to it").count(SCRUBBED) == 1


@pytest.mark.parametrize("secret", SHORT)
def test_short_credential_leaves_other_words(secret: str):
    assert Secrets([secret]).text(PROSE) == PROSE
    assert Secrets([secret, KEY]).text(f"{PROSE} {KEY}") == f"{PROSE} {SCRUBBED}"


def test_content_keeps_words_that_are_short_credentials():
    assert Secrets(["hunter2", KEY]).for_content().text(f"hunter2 {KEY}") == f"hunter2 {SCRUBBED}"


@given(st.text(min_size=1, max_size=7), st.text(max_size=60))
def test_any_short_text_can_be_a_credential(secret: str, text: str):
    scrubbed = Secrets([secret]).text(f"{text} api_key='{secret.strip()}'")
    assert not scrubbed.endswith(f"api_key='{secret.strip()}'") or not secret.strip()


@pytest.mark.parametrize("key", ["hunter2", "x", "test"])
def test_short_key_is_in_no_error_record_or_log(
    call_style: Any, server: Any, services: Any, key: str, caplog: pytest.LogCaptureFixture
):
    records: list[Any] = []
    services.records.subscribe(records.append, capture="full")
    server.script(failure(401, f"Incorrect API key provided: {key}. (api_key='{key}')"))
    llm = create_llm("openai-compatible", "m", base_url=f"{server.url}/v1", api_key=key, services=services)
    with pytest.raises(AuthenticationError) as raised:
        call_style.generate(llm, "hi")
    services.records.close(60)
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"
    for text in (str(raised.value), repr(raised.value), to_json(records[0]), caplog.text):
        assert f": {key}" not in text
        assert f"'{key}'" not in text
    assert str(raised.value).count(SCRUBBED) == 2


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_credential_split_by_shortening_is_redacted_at_both_ends(cut):
    text = SECRETS.text(f"{KEY[:cut]} [... 1,234 characters ...] {KEY[cut:]} end")
    assert text.endswith("end")
    assert KEY[:4] not in text
    assert KEY[-4:] not in text


def test_two_keys_with_a_common_prefix_are_redacted_completely():
    secrets = Secrets(["sk-proj-aaaa bbbb", "sk-proj-aaaa!cccc"])
    assert secrets.text("sk-proj-aaaa!cccc sk-proj-aaaa bbbb") == f"{SCRUBBED} {SCRUBBED}"


def test_oldest_of_many_credentials_are_forgotten():
    secrets = Secrets(f"token-{number:04}" for number in range(1000))
    assert secrets.text("token-0999") == SCRUBBED
    assert len(secrets._known) == 64


def test_values_keep_their_type_and_unaffected_ones_their_identity():
    reply = ModelReply((TextPart(f"it is {KEY}"), TextPart("plain")), "stop")
    scrubbed = SECRETS.value(reply)
    assert scrubbed.text == f"it is {SCRUBBED}plain"
    clean = {"a": [1, 2.0, None, True, b"x"], "b": (reply.usage,), "c": {"d"}}
    assert SECRETS.value(clean) is clean
    assert SECRETS.value({KEY: (KEY, [KEY], KEY.encode())}) == {SCRUBBED: (SCRUBBED, [SCRUBBED], SCRUBBED.encode())}


def chained() -> AuthenticationError:
    """An error with the key in all its places."""
    try:
        try:
            try:
                b"\xff".decode()
            except UnicodeDecodeError:
                json.loads(f'{{"key": "{KEY}')
        except ValueError as error:
            error.add_note(f"the key is {KEY}")
            raise ExceptionGroup(f"with {KEY}", [OSError(2, f"no {KEY}", f"/{KEY}"), ValueError(KEY)]) from error
    except ExceptionGroup as error:
        made = AuthenticationError(
            f"bad key {KEY}",
            hint=f"not {KEY}",
            request_id=KEY,
            code=KEY,
            partial=ModelReply((TextPart(KEY),), "stop"),
            attempts=[AttemptRecord(1, 0.0, 0.0, request_id=KEY)],
        )
        made.extra = {"body": [KEY]}
        try:
            raise made from error
        except AuthenticationError as raised:
            return raised


def test_error_is_redacted_with_its_attributes_and_chain():
    error = chained()
    before = "".join(traceback.format_exception(error))
    assert KEY in before
    SECRETS.error(error)
    said = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error)
    assert "canary" not in said
    assert b"canary" not in pickle.dumps(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert (error.message, error.hint, error.partial.text) == (f"bad key {SCRUBBED}", f"not {SCRUBBED}", SCRUBBED)
    assert "JSONDecodeError" in said
    assert type(error) is AuthenticationError


def raised(error: Exception, *, cause: Exception | None, context: Exception) -> Exception:
    """`error`, raised where `context` was handled."""
    with pytest.raises(type(error)) as caught:
        try:
            raise context
        except type(context):
            raise error from cause
    return caught.value


def test_suppressed_context_stays_suppressed():
    error = raised(InvalidInputError("no", path="x"), cause=None, context=ValueError(KEY))
    SECRETS.error(error)
    assert error.__suppress_context__
    assert "canary" not in repr(error.__context__)


class FixedError(Exception):
    """An exception whose text is immutable."""

    def __str__(self) -> str:
        return f"always {KEY}"


def test_immutable_exception_is_replaced_in_the_chain():
    fixed = FixedError()
    error = raised(InvalidInputError("no", path="x"), cause=fixed, context=fixed)
    SECRETS.error(error)
    assert str(error.__cause__) == f"FixedError: always {SCRUBBED}"
    assert error.__cause__.__traceback__ is not None
    assert error.__context__ is error.__cause__


def test_self_referencing_exception_chain_terminates():
    error = ValueError(KEY)
    error.__context__ = other = KeyError(KEY)
    other.__context__ = error
    error.itself = [error]
    SECRETS.error(error)
    assert str(error) == SCRUBBED


@pytest.mark.parametrize(
    ("url", "headers", "found"),
    [
        ("", {"authorization": f"Bearer {KEY}"}, {KEY}),
        ("", {"authorization": KEY}, {KEY}),
        ("", {"x-api-key": KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}, {KEY}),
        (
            "",
            {"proxy-authorization": "Basic " + b64("user:password")},
            {b64("user:password"), "user:password", "password"},
        ),
        ("", {"cookie": "a=first-cookie; b=second-cookie"}, {"first-cookie", "second-cookie"}),
        (
            "",
            {
                "authorization": "AWS4-HMAC-SHA256 Credential=AKIA123456/20260101/us/x/aws4_request, "
                "SignedHeaders=host;x-amz-date, Signature=abcdef123456",
                "x-amz-date": "20260101T000000Z",
                "x-amz-security-token": "a-token-of-aws",
            },
            {"AKIA123456", "a-token-of-aws"},
        ),
        ("https://h/p?key=a%2Fb-c&alt=sse&sig=s", {}, {"a/b-c", "s"}),
        ("https://user:pass%2Fword@h/p", {}, {"user:pass%2Fword", "pass%2Fword", "user:pass/word", "pass/word"}),
        ("https://just-a-token@h/p", {}, {"just-a-token"}),
        ("https://[::1", {}, set()),
        ("https://h/p", {"x-tenant": "acme", "accept": "application/json", "openai-organization": "org"}, set()),
    ],
)
def test_credentials_of_a_request_are_found_by_name(url, headers, found):
    assert set(credentials_in(url, headers)) == found


def test_authentication_headers_are_credentials_whatever_their_names():
    headers = {"x-whom": "a-credential", "x-version": "2020-01-01-long", "x-tenant": "a-tenant-name"}
    assert set(credentials_in("", headers, ["x-whom", "x-version"])) == {"a-credential"}


def test_credentials_in_options_are_found_by_name():
    options = {
        "api_key": "one-key",
        "access_token": "two-token",
        "voice_api_key": "three",
        "credentials": {"aws_access_key_id": "four", "aws_secret_access_key": "five"},
        "headers": {"X-Api-Key": "six", "X-Tenant": "acme"},
        "proxy": "http://user:seven@proxy:1",
        "base_url": "https://h/v1",
        "max_output_tokens": 7,
        "model": "m",
    }
    assert set(credentials_of(options)) == {
        *("one-key", "two-token", "three", "four", "five", "six", "user:seven", "seven"),
    }


def test_names_of_credentials():
    assert all(map(is_sensitive, ("Authorization", "X-Api-Key", "apikey", "Set-Cookie", "x-amz-security-token")))
    assert not any(map(is_sensitive, ("accept", "content-type", "user-agent", "x-tenant", "anthropic-version")))


def test_log_messages_are_redacted_for_every_handler(caplog):
    secrets = Secrets([KEY])
    scrub_logs(secrets)
    log = logging.getLogger("abstractcore")
    try:
        raise ValueError(f"with {KEY}") from KeyError(KEY)
    except ValueError:
        log.exception("failed for %s", KEY)
    log.warning(f"bad {quote(KEY, '')}")
    log.warning("fine %s", 1)
    assert "canary" not in caplog.text
    assert [record.getMessage() for record in caplog.records] == [
        f"failed for {SCRUBBED}",
        f"bad {SCRUBBED}",
        "fine 1",
    ]
    assert caplog.records[2].args == (1,)


def test_credentials_that_many_llms_share_are_searched_once_in_a_log_message(caplog, monkeypatch):
    searched: list[str] = []
    scrubbed = SecretScanner.scrubbed

    def counted(scanner: SecretScanner, text: str) -> str:
        searched.append(text)
        return scrubbed(scanner, text)

    monkeypatch.setattr(SecretScanner, "scrubbed", counted)

    def searches() -> int:
        searched.clear()
        logging.getLogger("abstractcore").warning(f"bad {KEY}")
        return len(searched)

    all_secrets = [Secrets([KEY])]
    scrub_logs(all_secrets[0])
    of_one = searches()
    for _ in range(20):
        all_secrets.append(Secrets([KEY]))
        scrub_logs(all_secrets[-1])
    assert 1 <= searches() <= of_one
    all_secrets[-1].add(["another-canary-0123456789"])
    logging.getLogger("abstractcore").warning("not another-canary-0123456789")
    assert "canary" not in caplog.text


def test_immutable_exception_is_logged_without_its_text(caplog):
    secrets = Secrets([KEY])
    scrub_logs(secrets)
    try:
        raise FixedError
    except FixedError:
        logging.getLogger("abstractcore").exception("failed")
    assert "canary" not in caplog.text
    assert f"FixedError: always {SCRUBBED}" in caplog.text
