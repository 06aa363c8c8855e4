"""What goes wrong at vendors of music: errors by status, garbage, blocked texts, tasks that fail or never end."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from abstractcore import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    CapabilityUnavailableError,
    ContentFilterError,
    CorruptFileError,
    InvalidInputError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    UnknownOptionError,
    UnsupportedContentError,
    UnsupportedOptionError,
)
from abstractcore.testing import CallStyle
from tests.backend_doubles import call
from tests.plugins.music.remote import fakes
from tests.plugins.music.remote.conftest import FAKES, STARTS, Remote
from tests.plugins.vendor_server import Answer, VendorServer

ERRORS: dict[str, tuple[str, int, Any, type[ProviderError], str]] = {
    "elevenlabs: prompt": (
        "elevenlabs", 400,
        {"detail": {"status": "bad_prompt", "message": "It names an artist.",
                    "data": {"prompt_suggestion": "A rock song."}}},
        ContentFilterError, r"It names an artist.*The vendor suggests: A rock song\.",
    ),
    "elevenlabs: key": (
        "elevenlabs", 401, {"detail": {"status": "invalid_api_key", "message": "Invalid API key"}},
        AuthenticationError, "Invalid API key",
    ),
    "elevenlabs: quota": (
        "elevenlabs", 401, {"detail": {"status": "quota_exceeded", "message": "0 credits are left."}},
        QuotaError, "0 credits are left",
    ),
    "elevenlabs: field": (
        "elevenlabs", 422, {"detail": [{"loc": ["body"], "msg": "too short", "type": "value_error"}]},
        BadRequestError, "too short",
    ),
    "elevenlabs: limit": (
        "elevenlabs", 429, {"detail": {"status": "too_many_concurrent_requests", "message": "Slow down."}},
        RateLimitError, "Slow down",
    ),
    "stable-audio: moderation": (
        "stable-audio", 403, {"id": "1", "name": "content_moderation", "errors": ["Your request was flagged."]},
        ContentFilterError, "flagged",
    ),
    "stable-audio: credit": (
        "stable-audio", 402, {"id": "1", "name": "payment_required", "errors": ["You lack sufficient credits."]},
        QuotaError, "lack sufficient credits",
    ),
    "stable-audio: field": (
        "stable-audio", 400, {"id": "1", "name": "bad_request", "errors": ["duration: too long", "seed: negative"]},
        BadRequestError, "duration: too long; seed: negative",
    ),
    "lyria: key": (
        "lyria", 400, {"error": {"code": "invalid_request", "message": "API key not valid. Pass a valid one."}},
        AuthenticationError, "API key not valid",
    ),
    "lyria: model": (
        "lyria", 404, {"error": {"code": "model_not_found", "message": "No such model."}},
        NotFoundError, "No such model",
    ),
    "lyria: safety": (
        "lyria", 400, {"error": {"code": "invalid_request", "message": "Blocked by safety settings."}},
        ContentFilterError, "Blocked by safety",
    ),
    "lyria-vertex: permission": (
        "lyria-vertex", 403, {"error": {"code": 403, "message": "Permission denied.", "status": "PERMISSION_DENIED"}},
        AccessDeniedError, "Permission denied",
    ),
    "ace-step: key": ("ace-step", 401, {"detail": "Missing API key"}, AuthenticationError, "Missing API key"),
    "ace-step: busy": ("ace-step", 429, {"detail": "Server busy: queue is full"}, RateLimitError, "queue is full"),
    "ace-step: text": ("ace-step", 500, b"Internal Server Error", ServerError, "status 500"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_error_of_a_vendor_has_its_class_and_message(vendor: VendorServer, remote: Remote, case: str):
    name, status, body, kind, message = ERRORS[case]
    llm = remote(name, max_retries=0)
    vendor.on("POST", STARTS[name], Answer(status, body))
    with pytest.raises(kind, match=message) as caught:
        llm.music.t2m("a waltz")
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert fakes.KEY not in str(caught.value)


@pytest.mark.parametrize("name", FAKES)
def test_only_music_that_is_answered_at_once_is_asked_for_again(vendor: VendorServer, remote: Remote, name: str):
    llm = remote(name)
    path = STARTS[name]
    vendor.on("POST", path, Answer(503), *vendor.handlers["POST", path])
    if name == "ace-step":
        with pytest.raises(OverloadedError):
            llm.music.t2m("a waltz")
        assert len(vendor.requests) == 1
    else:
        llm.music.t2m("a waltz")
        assert len(vendor.requests) == 2


def test_state_that_is_not_there_for_a_moment_is_asked_for_again(vendor: VendorServer, remote: Remote):
    llm = remote("ace-step")
    done = fakes.task_state(1, fakes.ace_step_result("mp3"))
    vendor.on("POST", "/query_result", Answer(502), done)
    assert llm.music.t2m("a waltz").part.blob.read() == fakes.tone()


GARBAGE: dict[str, Any] = {
    "no JSON": b"<html>busy</html>",
    "nothing": b"",
    "a list": [1, 2],
    "an empty object": {},
    "no sounds": {"status": "completed", "steps": [{"type": "model_output"}], "predictions": [{}], "data": {}},
    "no base64": {
        "status": "completed",
        "steps": [{"type": "model_output", "content": [{"type": "audio", "data": "%%%"}]}],
        "predictions": [{"audioContent": "%%%"}],
        "audio": "%%%",
        "data": {"task_id": 7},
    },
    "no sound in it": {
        "status": "completed",
        "outputs": [{"type": "audio", "data": "aGVsbG8="}],
        "predictions": [{"bytesBase64Encoded": "aGVsbG8="}],
        "audio": "aGVsbG8=",
        "code": 500,
    },
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("name", FAKES)
def test_garbage_is_a_server_error(vendor: VendorServer, remote: Remote, name: str, garbage: str):
    llm = remote(name, max_retries=0)
    for key in list(vendor.handlers):
        vendor.on(*key, Answer(200, GARBAGE[garbage]))
    with pytest.raises(ServerError):
        llm.music.t2m("a waltz")


STATES: dict[str, tuple[Any, type[ProviderError], str]] = {
    "failed": (fakes.task_state(2, {"file": "", "error": "CUDA is gone"}), ServerError, "CUDA is gone"),
    "failed silently": (fakes.task_state(2), ServerError, "the job failed"),
    "done without a file": (fakes.task_state(1, {"file": ""}), ServerError, "succeeded without a file"),
    "another task": (fakes.wrapped([{"task_id": "other", "status": 1}]), ServerError, "no state of the task"),
    "unknown": (fakes.task_state(5), ServerError, "unknown state 5"),
    "error in place": (fakes.wrapped(None, code=500, error="boom"), ServerError, "boom"),
    "broken result": (
        fakes.wrapped([{"task_id": fakes.TASK, "status": 1, "result": "[{"}]), ServerError, "without a file",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STATES)
def test_task_that_fails_is_a_typed_error(call_style: CallStyle, vendor: VendorServer, remote: Remote, case: str):
    state, kind, message = STATES[case]
    with pytest.raises(kind, match=message):
        call(call_style, remote("ace-step", state, max_retries=0).music, "t2m", "a waltz")


def test_downloaded_file_must_be_a_sound(vendor: VendorServer, remote: Remote):
    llm = remote("ace-step")
    vendor.on("GET", "/v1/audio", Answer(200, b"<html>expired</html>", {"content-type": "audio/mpeg"}))
    with pytest.raises(ServerError, match="expected a sound, got 20 bytes that begin with b'<html>"):
        llm.music.t2m("a waltz")
    vendor.on("GET", "/v1/audio", Answer(404, {"detail": "No such file"}))
    with pytest.raises(NotFoundError, match="No such file"):
        llm.music.t2m("a waltz")


def test_sound_that_cannot_be_converted_is_a_corrupt_file(vendor: VendorServer, remote: Remote):
    llm = remote("elevenlabs", Answer(200, b"ID3" + bytes(40)))
    with pytest.raises(CorruptFileError, match="the sound cannot be read"):
        llm.music.t2m("a waltz", format="wav")


def test_blocked_sounds_are_content_filter_errors(vendor: VendorServer, remote: Remote):
    for body in (
        Answer(200, {"finish_reason": "CONTENT_FILTERED"}),
        Answer(200, b"", {"finish-reason": "CONTENT_FILTERED"}),
    ):
        with pytest.raises(ContentFilterError, match="content filter"):
            remote("stable-audio", body).music.t2m("a waltz")
    failed = {"id": "i", "status": "failed", "errors": [{"code": "content_filter", "message": "Prohibited content."}]}
    with pytest.raises(ContentFilterError, match=r"Prohibited content\."):
        remote("lyria", failed).music.t2m("a waltz")
    text = {"type": "text", "text": "I cannot sing that: it violates the safety policy."}
    refused = {"id": "i", "status": "completed", "steps": [{"type": "model_output", "content": [text]}]}
    with pytest.raises(ContentFilterError, match="I cannot sing that"):
        remote("lyria", refused).music.t2m("a waltz")


def test_interaction_that_fails_is_not_asked_for_again(vendor: VendorServer, remote: Remote):
    for failed, message in (
        ({"id": "i", "status": "failed", "errors": [{"message": "Broken."}]}, "Broken"),
        ({"id": "i", "status": "cancelled"}, "the interaction is cancelled"),
    ):
        with pytest.raises(ServerError, match=message):
            remote("lyria", failed).music.t2m("a waltz")
    assert len(vendor.requests) == 2


def test_task_that_never_ends_ends_at_the_time_limit(call_style: CallStyle, vendor: VendorServer, remote: Remote):
    running = {"id": "i-1", "status": "in_progress"}
    llm = remote("lyria", running)
    vendor.on("GET", "/v1beta/interactions/i-1", running)
    vendor.on("POST", "/v1beta/interactions/i-1/cancel", {"id": "i-1", "status": "cancelled"})
    for music in (llm.music, remote("ace-step", fakes.task_state(0)).music):
        vendor.key = None
        with pytest.raises(RequestTimeoutError, match="was not finished in time"):
            call(call_style, music, "t2m", "a waltz", timeout=60)
    assert len(vendor.sent("POST", "/v1beta/interactions/i-1/cancel")) == 1
    assert 5 <= len(vendor.sent("POST", "/query_result")) <= 20


def test_interaction_of_a_cancelled_task_is_cancelled(vendor: VendorServer, remote: Remote):
    running = {"id": "i-1", "status": "in_progress"}
    llm = remote("lyria", running)
    vendor.on("GET", "/v1beta/interactions/i-1", running)
    vendor.on("POST", "/v1beta/interactions/i-1/cancel", {"id": "i-1", "status": "cancelled"})

    async def cancelled() -> None:
        started = asyncio.Event()
        task = asyncio.create_task(llm.music.at2m("a waltz", on_progress=lambda _: started.set(), timeout=None))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with asyncio.Runner() as runner:
        runner.run(cancelled())
    assert len(vendor.sent("POST", "/v1beta/interactions/i-1/cancel")) == 1


def test_file_at_another_host_does_not_get_the_key(vendor: VendorServer, remote: Remote):
    with VendorServer() as other:
        other.on("GET", "/a.mp3", Answer(200, fakes.tone()))
        audio = {"type": "audio", "uri": f"{other.url}/a.mp3"}
        made = {"id": "i", "status": "completed", "steps": [{"type": "model_output", "content": [audio]}]}
        assert remote("lyria", made).music.t2m("a waltz").part.blob.read() == fakes.tone()
        assert "x-goog-api-key" not in other.requests[0].headers


@pytest.mark.parametrize(
    ("name", "hint"),
    [("elevenlabs", "Set ELEVENLABS_API_KEY, or music_api_key"), ("lyria-vertex", "GOOGLE_OAUTH_ACCESS_TOKEN")],
)
def test_missing_key_is_named_before_anything_is_sent(vendor: VendorServer, remote: Remote, name: str, hint: str):
    with pytest.raises(AuthenticationError, match=hint):
        remote(name, music_api_key=None).music.t2m("a waltz")
    assert vendor.requests == []


def test_missing_address_is_shown_by_an_example(vendor: VendorServer, remote: Remote):
    with pytest.raises(CapabilityUnavailableError, match="music_base_url='https://us-central1-aiplatform"):
        remote("lyria-vertex", music_base_url=None).music.t2m("a waltz")


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "empty prompt": ({"prompt": "  "}, InvalidInputError, "prompt"),
    "unknown option": ({"tempi": 3}, UnknownOptionError, "Did you mean 'tempo'"),
    "score": ({"format": "midi"}, UnsupportedContentError, "music_backend='score'"),
    "format": ({"format": "wma"}, InvalidInputError, "Write one of wav, flac, mp3, opus"),
    "seconds": ({"seconds": 1e9}, InvalidInputError, "expected a number from 0.5 to 3600"),
    "no number": ({"tempo": "fast"}, InvalidInputError, "tempo"),
    "seed": ({"seed": 1.5}, InvalidInputError, "seed"),
    "lyrics": ({"lyrics": 7}, InvalidInputError, "lyrics"),
    "strict": ({"seed": 7, "strict": True}, UnsupportedOptionError, "does not take 'seed'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_anything_is_sent(vendor: VendorServer, remote: Remote, case: str):
    options, kind, message = BAD[case]
    given: dict[str, Any] = {"prompt": "a waltz", **options}
    with pytest.raises(kind, match=message):
        remote("elevenlabs").music.t2m(**given)
    assert vendor.requests == []


def test_a_megabyte_of_text_reaches_the_vendor_whole(vendor: VendorServer, remote: Remote):
    prompt = "a waltz by the sea, " * 50_000
    remote("lyria").music.t2m(prompt)
    assert json.loads(vendor.requests[0].body)["input"] == prompt
