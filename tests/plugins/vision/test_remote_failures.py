"""What goes wrong at vendors: errors by status, garbage, blocked pictures, jobs that fail, never end, are cancelled."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from abstractcore import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    CorruptFileError,
    ImagePart,
    InvalidInputError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StreamInterruptedError,
    UnknownOptionError,
    UnsupportedContentError,
    UnsupportedOptionError,
)
from abstractcore.testing import CallStyle
from tests.backend_doubles import PNG, call
from tests.plugins.vendor_server import Answer, VendorServer
from tests.plugins.vision import fakes
from tests.plugins.vision.conftest import FAKES, Remote

JOBS = ["fal", "replicate", "bfl"]
STARTS = {"fal": "/painters/one", "replicate": "/models/painters/one/predictions", "bfl": "/painter-1"}
ERRORS: dict[str, tuple[str, int, Any, type[ProviderError], str]] = {
    "openai: moderation": (
        "openai", 400,
        {"error": {"message": "Your request was rejected by the safety system.", "code": "moderation_blocked"}},
        ContentFilterError, "rejected by the safety system",
    ),
    "openai: parameter": (
        "openai", 400, {"error": {"message": "Invalid size.", "type": "invalid_request_error", "param": "size"}},
        BadRequestError, "Invalid size.",
    ),
    "openai: quota": (
        "openai", 429, {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}},
        QuotaError, "exceeded your quota",
    ),
    "openai: limit": ("openai", 429, {"error": {"message": "Slow down."}}, RateLimitError, "Slow down."),
    "openai: text": ("openai", 500, b"upstream error", ServerError, "status 500"),
    "sd-server: text": ("sd-server", 400, {"error": "prompt is required"}, BadRequestError, "prompt is required"),
    "gemini: key": (
        "gemini", 400,
        {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
                   "details": [{"reason": "API_KEY_INVALID"}]}},
        AuthenticationError, "API key not valid.",
    ),
    "imagen: model": (
        "imagen", 404, {"error": {"code": 404, "message": "Model is not found.", "status": "NOT_FOUND"}},
        NotFoundError, "Model is not found.",
    ),
    "stability: moderation": (
        "stability", 403, {"id": "1", "name": "content_moderation", "errors": ["Your request was flagged."]},
        ContentFilterError, "flagged",
    ),
    "stability: credit": (
        "stability", 402, {"id": "1", "name": "payment_required", "errors": ["You lack sufficient credits."]},
        QuotaError, "lack sufficient credits",
    ),
    "stability: permission": (
        "stability", 403, {"id": "1", "name": "forbidden", "errors": ["Not for this key."]},
        AccessDeniedError, "Not for this key.",
    ),
    "fal: field": (
        "fal", 422, {"detail": [{"loc": ["body", "prompt"], "msg": "field required", "type": "missing"}]},
        BadRequestError, "field required",
    ),
    "fal: policy": (
        "fal", 422, {"detail": [{"msg": "The content was refused.", "type": "content_policy_violation"}]},
        ContentFilterError, "refused",
    ),
    "replicate: credit": (
        "replicate", 402, {"title": "Insufficient credit", "detail": "You have insufficient credit.", "status": 402},
        QuotaError, "insufficient credit",
    ),
    "bfl: credit": ("bfl", 402, {"detail": "Insufficient credits"}, QuotaError, "Insufficient credits"),
    "bfl: busy": ("bfl", 503, b"", OverloadedError, "status 503"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_error_of_a_vendor_has_its_class_and_message(vendor: VendorServer, remote: Remote, case: str):
    name, status, body, kind, message = ERRORS[case]
    llm = remote(name)
    for method, path in list(vendor.handlers):
        if method == "POST":
            vendor.on(method, path, Answer(status, body))
    with pytest.raises(kind, match=message) as caught:
        llm.vision.t2i("a boat")
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert fakes.KEY not in str(caught.value)


@pytest.mark.parametrize("name", ["openai", "gemini", "imagen", "stability"])
def test_pictures_that_are_answered_at_once_are_asked_for_again(vendor: VendorServer, remote: Remote, name: str):
    llm = remote(name)
    for method, path in list(vendor.handlers):
        vendor.on(method, path, Answer(503), *vendor.handlers[method, path])
    assert llm.vision.t2i("a boat").part.blob.read() == PNG
    assert len(vendor.requests) == 2


@pytest.mark.parametrize("name", JOBS)
def test_request_that_starts_a_job_is_not_sent_twice(vendor: VendorServer, remote: Remote, name: str):
    llm = remote(name)
    vendor.on("POST", STARTS[name], Answer(503))
    with pytest.raises(OverloadedError):
        llm.vision.t2i("a boat")
    assert len(vendor.requests) == 1


@pytest.mark.parametrize("name", JOBS)
def test_state_that_is_not_there_for_a_moment_is_asked_for_again(vendor: VendorServer, remote: Remote, name: str):
    llm = remote(name)
    ((method, path),) = [
        key for key in vendor.handlers if key[0] == "GET" and key[1].endswith(("status", "p-1", "result"))
    ]
    vendor.on(method, path, Answer(502), *vendor.handlers[method, path])
    assert llm.vision.t2i("a boat").part.blob.read() == PNG


GARBAGE: dict[str, Any] = {
    "no JSON": b"<html>busy</html>",
    "a list": [1, 2],
    "an empty object": {},
    "no pictures": {"data": [], "candidates": [{}], "predictions": [{}], "finish_reason": "SUCCESS", "id": 3},
    "no base64": {
        "data": [{"b64_json": "%%%"}],
        "candidates": [{"content": {"parts": [{"inlineData": {"data": "%%%"}}]}}],
        "predictions": [{"bytesBase64Encoded": "%%%"}],
        "image": "%%%",
        "request_id": "r",
        "id": "i",
        "status": "dancing",
    },
    "no picture in it": {
        "data": [{"b64_json": "aGVsbG8="}],
        "candidates": [{"content": {"parts": [{"inlineData": {"data": "aGVsbG8="}}]}}],
        "predictions": [{"bytesBase64Encoded": "aGVsbG8="}],
        "image": "aGVsbG8=",
        "id": "i",
        "status": "succeeded",
        "output": "data:image/png;base64,aGVsbG8=",
    },
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("name", [name for name in FAKES if name != "veo"])
def test_garbage_is_a_server_error(vendor: VendorServer, remote: Remote, name: str, garbage: str):
    llm = remote(name, max_retries=0)
    for key in list(vendor.handlers):
        vendor.on(*key, Answer(200, GARBAGE[garbage]))
    kind = ContentFilterError if (name, garbage) == ("imagen", "an empty object") else ServerError
    with pytest.raises(kind):
        llm.vision.t2i("a boat")


def test_downloaded_file_must_be_a_picture_or_a_video(vendor: VendorServer, remote: Remote):
    llm = remote("bfl")
    vendor.on("GET", "/files/1.png", Answer(200, b"<html>expired</html>", {"content-type": "image/png"}))
    with pytest.raises(ServerError, match="expected an image or a video, got 20 bytes that begin with b'<html>"):
        llm.vision.t2i("a boat")
    vendor.on("GET", "/files/1.png", Answer(403, {"error": "expired"}))
    with pytest.raises(AccessDeniedError):
        llm.vision.t2i("a boat")


def test_endless_redirects_end(vendor: VendorServer, remote: Remote):
    llm = remote("bfl")
    vendor.on("GET", "/files/1.png", Answer(302, b"", {"location": "/files/1.png"}))
    with pytest.raises(ServerError, match="redirected too often"):
        llm.vision.t2i("a boat")


FAILED: dict[str, tuple[str, Any, type[ProviderError], str]] = {
    "fal: error": ("fal", {"status": "COMPLETED", "error": "out of memory"}, ServerError, "out of memory"),
    "replicate: failed": (
        "replicate", {"id": "p-1", "status": "failed", "error": "CUDA is gone"}, ServerError, "CUDA is gone",
    ),
    "replicate: nsfw": (
        "replicate", {"id": "p-1", "status": "failed", "error": "NSFW content detected. Try running it again."},
        ContentFilterError, "NSFW content",
    ),
    "replicate: canceled": ("replicate", {"id": "p-1", "status": "canceled"}, ServerError, "ended as canceled"),
    "bfl: request": ("bfl", {"id": "t-1", "status": "Request Moderated"}, ContentFilterError, "request was moderated"),
    "bfl: content": (
        "bfl", {"id": "t-1", "status": "Content Moderated", "details": {"Moderation Reasons": ["Violence"]}},
        ContentFilterError, "picture was moderated: Violence",
    ),
    "bfl: lost": ("bfl", {"id": "t-1", "status": "Task not found"}, ServerError, "ended as Task not found"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILED)
def test_job_that_fails_is_a_typed_error(call_style: CallStyle, vendor: VendorServer, remote: Remote, case: str):
    name, state, kind, message = FAILED[case]
    with pytest.raises(kind, match=message) as caught:
        call(call_style, remote(name, state).vision, "t2i", "a boat")
    assert not caught.value.retryable


def test_failed_operation_of_veo_is_a_typed_error(vendor: VendorServer, remote: Remote):
    failed = {"name": "models/painter-1/operations/op-1", "done": True, "error": {"code": 13, "message": "Broken."}}
    with pytest.raises(ServerError, match=r"Broken."):
        remote("veo", failed).vision.t2v("waves")
    filtered = {"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": ["It shows a person."]}
    done = {"name": "x", "done": True, "response": {"generateVideoResponse": filtered}}
    with pytest.raises(ContentFilterError, match=r"It shows a person.") as caught:
        remote("veo", done).vision.t2v("waves")
    assert caught.value.partial is not None
    assert caught.value.partial.parts == ()


def test_partly_blocked_pictures_are_an_error_with_those_that_passed(
    call_style: CallStyle, vendor: VendorServer, remote: Remote
):
    some = {
        "predictions": [
            {"bytesBase64Encoded": fakes.CODED, "mimeType": "image/png"},
            {"raiFilteredReason": "Unsafe image."},
        ]
    }
    with pytest.raises(
        ContentFilterError, match=r"1 of 2 files passed; the others were blocked: Unsafe image."
    ) as caught:
        call(call_style, remote("imagen", some).vision, "t2i", "people", count=2)
    assert caught.value.partial is not None
    (part,) = caught.value.partial.parts
    assert isinstance(part, ImagePart)
    assert part.blob.read() == PNG


def test_blackened_picture_of_fal_is_blocked(vendor: VendorServer, remote: Remote):
    llm = remote("fal")
    image = {"url": f"{vendor.url}/files/1.png", "content_type": "image/png"}
    vendor.on("GET", "/painters/one/requests/r-1", {"images": [image, image], "has_nsfw_concepts": [True, False]})
    with pytest.raises(ContentFilterError, match="1 of 2 files passed") as caught:
        llm.vision.t2i("a boat")
    assert caught.value.partial is not None
    assert len(caught.value.partial.parts) == 1


def test_blocked_prompt_of_gemini_has_its_reason(vendor: VendorServer, remote: Remote):
    with pytest.raises(ContentFilterError, match="PROHIBITED_CONTENT"):
        remote("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}).vision.t2i("a boat")
    candidate: dict[str, Any] = {
        "finishReason": "IMAGE_SAFETY",
        "finishMessage": "Unable to show the image.",
        "content": {},
    }
    with pytest.raises(ContentFilterError, match=r"Unable to show the image."):
        remote("gemini", {"candidates": [candidate]}).vision.t2i("a boat")
    words = {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "I cannot draw."}]}}]}
    with pytest.raises(ServerError, match=r"without an image: I cannot draw."):
        remote("gemini", words, max_retries=0).vision.t2i("a boat")


def test_filtered_picture_of_stability_is_blocked(vendor: VendorServer, remote: Remote):
    with pytest.raises(ContentFilterError, match="content filter"):
        remote("stability", {"finish_reason": "CONTENT_FILTERED", "seed": 1}).vision.t2i("a boat")


CANCELS = {"fal": ("PUT", "/painters/one/requests/r-1/cancel"), "replicate": ("POST", "/predictions/p-1/cancel")}


@pytest.mark.parametrize("name", JOBS)
def test_job_that_never_ends_is_cancelled_at_the_time_limit(
    call_style: CallStyle, vendor: VendorServer, remote: Remote, name: str
):
    states = {
        "fal": lambda: {"status": "IN_PROGRESS"},
        "replicate": lambda: {"id": "p-1", "status": "processing"},
        "bfl": lambda: {"id": "t-1", "status": "Pending"},
    }
    llm = remote(name, states[name]())
    with pytest.raises(RequestTimeoutError, match="was not finished in time"):
        call(call_style, llm.vision, "t2i", "a boat", timeout=60)
    polls = [each for each in vendor.requests if each.method == "GET"]
    assert 5 <= len(polls) <= 20
    if name in CANCELS:
        assert len(vendor.sent(*CANCELS[name])) == 1


def test_job_of_a_cancelled_task_is_cancelled(vendor: VendorServer, remote: Remote):
    llm = remote("fal", {"status": "IN_PROGRESS"})

    async def cancelled() -> None:
        started = asyncio.Event()

        def seen(progress: object) -> None:
            started.set()

        task = asyncio.create_task(llm.vision.at2i("a boat", on_progress=seen, timeout=None))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with asyncio.Runner() as runner:
        runner.run(cancelled())
    assert len(vendor.sent(*CANCELS["fal"])) == 1


def test_answer_that_sends_the_key_elsewhere_is_refused(vendor: VendorServer, remote: Remote):
    with VendorServer() as other:
        llm = remote("bfl")
        vendor.on("POST", "/painter-1", {"id": "t-1", "polling_url": f"{other.url}/get_result"})
        with pytest.raises(ServerError, match="another host"):
            llm.vision.t2i("a boat")
        assert other.requests == []


def test_stream_that_ends_early_or_with_an_error_is_typed(call_style: CallStyle, vendor: VendorServer, remote: Remote):
    partial: dict[str, Any] = {"type": "image_generation.partial_image", "b64_json": fakes.CODED}
    error = {"type": "error", "error": {"message": "Blocked by the safety system.", "code": "moderation_blocked"}}
    options: dict[str, Any] = {"partial_images": 1}
    for events, kind in (([partial], StreamInterruptedError), ([partial, error], ContentFilterError)):
        stream = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        llm = remote("openai", Answer(200, stream, {"content-type": "text/event-stream"}))
        with pytest.raises(kind):
            call(call_style, llm.vision, "t2i", "a boat", **options)


def test_missing_key_is_named_before_anything_is_sent(vendor: VendorServer, remote: Remote):
    with pytest.raises(AuthenticationError, match="Set STABILITY_API_KEY, or vision_api_key"):
        remote("stability", vision_api_key=None).vision.t2i("a boat")
    assert vendor.requests == []


def test_wrong_key_is_an_authentication_error(vendor: VendorServer, remote: Remote):
    with pytest.raises(AuthenticationError):
        remote("bfl", vision_api_key="wrong").vision.t2i("a boat")


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "empty text": ({"prompt": " "}, InvalidInputError, "prompt"),
    "absurd width": ({"width": 10**9, "height": 8}, InvalidInputError, "width: expected a number from 1 to 16384"),
    "half a size": ({"width": 512}, InvalidInputError, "height: expected both, width and height"),
    "count": ({"count": 0}, InvalidInputError, "count"),
    "steps": ({"steps": -1}, InvalidInputError, "steps"),
    "typing error": ({"guidence": 3}, UnknownOptionError, "Did you mean 'guidance'"),
    "strict": ({"seed": 3, "strict": True}, UnsupportedOptionError, "seed"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_anything_is_sent(vendor: VendorServer, remote: Remote, case: str):
    options, kind, message = BAD[case]
    given: dict[str, Any] = {"prompt": "a boat", **options}
    with pytest.raises(kind, match=message):
        remote("openai").vision.t2i(**given)
    assert vendor.requests == []


def test_unreadable_mask_and_unsupported_tasks_are_refused(vendor: VendorServer, remote: Remote):
    with pytest.raises(CorruptFileError, match=r"the mask cannot be read: it is damaged, or of an unknown format$"):
        remote("fal").vision.i2i("a boat", PNG, mask=b"\x89PNG\r\n\x1a\n" + bytes(30))
    with pytest.raises(UnsupportedContentError, match="Gemini takes no mask"):
        remote("gemini").vision.i2i("a boat", PNG, mask=PNG)
    with pytest.raises(UnsupportedContentError, match="takes no image"):
        remote("stability", vision_image_model="core").vision.i2i("a boat", PNG)
    assert vendor.requests == []


def test_a_megabyte_of_text_reaches_the_vendor_whole(vendor: VendorServer, remote: Remote):
    prompt = "a boat and the sea, " * 50_000
    remote("openai").vision.t2i(prompt)
    assert vendor.requests[0].json["prompt"] == prompt
