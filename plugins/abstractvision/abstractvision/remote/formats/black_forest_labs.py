"""Black Forest Labs: `https://api.bfl.ai/v1/{model}`, a task that is asked for until it is ready.

Source: https://docs.bfl.ai/quick_start/generating_images and the API reference there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from abstractcore import ProviderError, ServerError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    PendingJob,
    Step,
    TaskRequest,
    error_of,
    get_request,
    job_failed,
    json_object,
    json_request,
    list_of,
    mapping_of,
    metadata_of,
    text_of,
)
from abstractcore.schema import WireResponse

from ..encoding import base64_of
from ..masks import white_mask
from ..requests import PictureRequest, TrackedPictureOptions

_FIELDS = {"width": "width", "height": "height", "seed": "seed", "steps": "steps", "guidance": "guidance"}
_BLOCKED = {"Request Moderated": "the request was moderated", "Content Moderated": "the picture was moderated"}
_WAITING = ("Pending", "Queued", "Processing")


class BlackForestLabs:
    """The format. A task cannot be cancelled."""

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request that starts the task."""
        asked = TrackedPictureOptions(request, "Black Forest Labs")
        body: dict[str, Any] = {"prompt": request.prompt}
        if request.images:
            body["image" if request.mask is not None else "input_image"] = base64_of(request.images[0])
        if request.mask is not None:
            body["mask"] = base64_of(white_mask(request.mask))
        for name, field in _FIELDS.items():
            if (value := asked.get(name)) is not None:
                body[field] = value
        if (format := asked.get("format")) is not None:
            body["output_format"] = {"jpg": "jpeg"}.get(format, format)
        body |= asked.extra()
        return TaskRequest(json_request(f"{base_url}/{request.model}", body), asked.warnings(), starts_job=True)

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the task that was started."""
        body = json_object(response)
        id = text_of(body.get("id"), "id")
        url = str(body.get("polling_url") or f"{base_url}/get_result?id={id}")
        return _waiting(id, url, {})

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response."""
        return error_of(response)

    def events(self, request: PictureRequest) -> None:
        """Returns None: answers are whole."""


def _waiting(id: str, url: str, body: dict[str, Any]) -> PendingJob:
    done = body.get("progress")
    share = float(done) if isinstance(done, int | float) and not isinstance(done, bool) else None
    state = str(body.get("status") or "started").lower()
    return PendingJob(id, get_request(url), partial(_status, id, url), state=state, done=share)


def _status(id: str, url: str, response: WireResponse) -> Step:
    body = json_object(response)
    state = body.get("status")
    if state in _WAITING:
        return _waiting(id, url, body)
    if state in _BLOCKED:
        reasons = list_of(mapping_of(body.get("details")).get("Moderation Reasons"))
        listed = f": {', '.join(map(str, reasons))}" if reasons else ""
        return FinishedJob((), (f"{_BLOCKED[str(state)]}{listed}",))
    result = mapping_of(body.get("result"))
    if state == "Ready":
        file = MadeFile(url=text_of(result.get("sample"), "result.sample"))
        return FinishedJob((file,), metadata=metadata_of(id=id, seed=result.get("seed")))
    if state in ("Error", "Failed", "Task not found"):
        details = mapping_of(body.get("details"))
        raise job_failed(details.get("error") or f"the task ended as {state}")
    raise ServerError(f"the task is in the unknown state {state!r}")
