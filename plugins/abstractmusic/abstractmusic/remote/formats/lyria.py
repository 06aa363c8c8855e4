"""Lyria 3 of the Gemini API: `interactions`, whose answer has the sound and the lyrics.

Source: https://ai.google.dev/gemini-api/docs/music-generation and the types of google-genai 3. The length, key, tempo
and lyrics are said in the prompt; the model `lyria-3-clip-preview` makes 30 seconds.
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
    from_base64,
    get_request,
    is_about_content,
    job_failed,
    json_object,
    json_request,
    list_of,
    mapping_of,
    metadata_of,
    text_of,
)
from abstractcore.schema import Usage, WireRequest, WireResponse

from ..requests import MusicRequest, TrackedMusicOptions
from .google_errors import google_error

_CLIP_SECONDS = 30.0
_LONGEST = 600.0
_WAITING = ("in_progress", "queued")


class Lyria:
    """The format."""

    def encode(self, request: MusicRequest, base_url: str) -> TaskRequest:
        """Returns the request. It is not stored at the vendor's."""
        asked = TrackedMusicOptions(request, "Lyria")
        body = {"model": request.model, "input": _input(asked, request), "store": False}
        asked.format(("mp3",))
        return TaskRequest(json_request(f"{base_url}/interactions", body | asked.extra()), asked.warnings())

    def read(self, request: MusicRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the sound with the lyrics, or a state of an interaction that goes on."""
        body = json_object(response)
        status = body.get("status")
        if status in _WAITING:
            id = text_of(body.get("id"), "id")
            url = f"{base_url}/interactions/{id}"
            cancel = WireRequest(f"{url}/cancel", {}, b"", "POST")
            read = partial(self.read, request, base_url=base_url)
            return PendingJob(id, get_request(url), read, state=str(status).replace("_", " "), cancel=cancel)
        return _finished(body)

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of an answer."""
        return google_error(response)

    def events(self, request: MusicRequest) -> None:
        """Returns None: answers are whole."""


def _input(asked: TrackedMusicOptions, request: MusicRequest) -> str:
    """Returns the prompt with all that the API has no field for."""
    pieces = [asked.prompt("mood", "key", "tempo", "meter")]
    if "clip" in request.model:
        asked.seconds(_CLIP_SECONDS, _CLIP_SECONDS)
    elif (seconds := asked.seconds(1, _LONGEST)) is not None:
        pieces.append(f"It lasts {seconds:g} seconds.")
        asked.warn("seconds", "it is said in the prompt, which the model need not follow", f"{seconds:g} seconds")
    if asked.get("instrumental"):
        pieces.append("Instrumental only, no vocals.")
    if (language := asked.get("language")) is not None:
        pieces.append(f"The lyrics are in the language {language!r}.")
    if (unwanted := asked.get("negative_prompt")) is not None:
        pieces.append(f"Without: {unwanted}")
    if (lyrics := asked.get("lyrics")) is not None:
        pieces.append(f"Lyrics:\n{lyrics}")
    return "\n\n".join(pieces)


def _finished(body: dict[str, Any]) -> FinishedJob:
    steps = [mapping_of(step) for step in list_of(body.get("steps"))]
    output = [step for step in steps if step.get("type") == "model_output"]
    # Interactions of Lyria 3 (not 3.5) have their content in `outputs`.
    contents = [*list_of(body.get("outputs")), *(each for step in output for each in list_of(step.get("content")))]
    files: list[MadeFile] = []
    texts: list[str] = []
    for content in map(mapping_of, contents):
        if content.get("type") == "audio" and content.get("data"):
            files.append(
                MadeFile(from_base64(content["data"], "data of the audio"), media_type=content.get("mime_type"))
            )
        elif content.get("type") == "audio" and content.get("uri"):
            files.append(MadeFile(url=str(content["uri"]), needs_key=True))
        elif content.get("type") == "text" and isinstance(content.get("text"), str):
            texts.append(content["text"])
    if not files:
        raise _without_sound(body, output, texts)
    return FinishedJob(
        tuple(files),
        model=body.get("model"),
        usage=_usage(body.get("usage")),
        metadata=metadata_of(text="\n".join(texts) or None, id=body.get("id") or None),
    )


def _without_sound(body: dict[str, Any], output: list[dict[str, Any]], texts: list[str]) -> ProviderError:
    """Returns the error of an interaction that made no sound."""
    errors = [*map(mapping_of, list_of(body.get("errors"))), *(mapping_of(step.get("error")) for step in output)]
    said = "; ".join(str(each["message"]) for each in errors if each.get("message"))
    words = " ".join(texts)
    if said or body.get("status") in ("failed", "cancelled"):
        code = next((str(each["code"]) for each in errors if each.get("code")), None)
        return job_failed(said or f"the interaction is {body['status']}", code)
    if is_about_content(words):
        return job_failed(words)
    return ServerError(f"the model answered without a sound{f': {words[:300]}' if words else ''}")


def _usage(value: object) -> Usage | None:
    usage = mapping_of(value)
    given, made = usage.get("total_input_tokens"), usage.get("total_output_tokens")
    return Usage(input=given, output=made) if isinstance(given, int) and isinstance(made, int) else None
