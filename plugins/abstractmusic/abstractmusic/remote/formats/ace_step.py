"""ACE-Step's API server: `/release_task`, `/query_result` until the task is done, and `/v1/audio`.

Source: https://github.com/ace-step/ACE-Step-1.5/blob/main/docs/en/API.md. A task cannot be cancelled.
"""

from __future__ import annotations

import json
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
    job_failed,
    json_object,
    json_request,
    list_of,
    mapping_of,
    metadata_of,
    text_of,
)
from abstractcore.schema import WireResponse

from ..requests import MusicRequest, TrackedMusicOptions

_SHORTEST, _LONGEST = 10.0, 600.0
_METERS = {"2/4": "2", "3/4": "3", "4/4": "4", "6/8": "6"}
_SLOWEST, _FASTEST = 30, 300
_RUNNING, _SUCCEEDED, _FAILED = 0, 1, 2
_SERVER_CHOICE = "default"
"""The name of the model that the server has loaded."""


class AceStep:
    """The format."""

    def encode(self, request: MusicRequest, base_url: str) -> TaskRequest:
        """Returns the request that starts the task."""
        asked = TrackedMusicOptions(request, "ACE-Step")
        lyrics = asked.get("lyrics")
        is_instrumental = asked.get("instrumental")
        given: dict[str, Any] = {
            "prompt": asked.prompt("mood"),
            "lyrics": "[Instrumental]" if lyrics is None and is_instrumental else lyrics,
            "vocal_language": asked.get("language"),
            "audio_format": asked.format(("wav", "mp3", "flac")),
            "audio_duration": asked.seconds(_SHORTEST, _LONGEST),
            "key_scale": asked.get("key"),
            "bpm": _tempo(asked),
            "time_signature": _METERS[asked.get("meter")] if request.options.meter in _METERS else None,
            "inference_steps": asked.get("steps"),
            "guidance_scale": asked.get("guidance"),
            "batch_size": asked.get("count") or 1,
            "model": None if request.model == _SERVER_CHOICE else request.model,
        }
        if (seed := asked.get("seed")) is not None:
            given |= {"seed": seed, "use_random_seed": False}
        body = {name: value for name, value in given.items() if value is not None}
        return TaskRequest(
            json_request(f"{base_url}/release_task", body | asked.extra()), asked.warnings(), starts_job=True
        )

    def read(self, request: MusicRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the task that was started."""
        data = _data(response)
        task = text_of(mapping_of(data).get("task_id"), "task_id")
        return _waiting(task, base_url, mapping_of(data))

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response."""
        return error_of(response)

    def events(self, request: MusicRequest) -> None:
        """Returns None: answers are whole."""


def _tempo(asked: TrackedMusicOptions) -> int | None:
    tempo = asked.get("tempo")
    if tempo is None:
        return None
    sent = round(min(max(tempo, _SLOWEST), _FASTEST))
    if sent != tempo:
        asked.warn("tempo", f"whole beats a minute from {_SLOWEST} to {_FASTEST} are sent", sent)
    return sent


def _data(response: WireResponse) -> Any:
    """Returns `data` of an answer; raises the error that stands in its place, despite the status 200."""
    body = json_object(response)
    if body.get("error") or body.get("code") not in (None, 200):
        raise job_failed(body.get("error") or f"the server answered with the code {body.get('code')!r}")
    return body.get("data")


def _waiting(task: str, base_url: str, state: dict[str, Any]) -> PendingJob:
    poll = json_request(f"{base_url}/query_result", {"task_id_list": [task]})
    done = state.get("progress")
    share = float(done) if isinstance(done, int | float) and not isinstance(done, bool) else None
    position = state.get("queue_position")
    name = f"in the queue, {position} before it" if isinstance(position, int) else str(state.get("stage") or "queued")
    return PendingJob(task, poll, partial(_status, task, base_url), state=name, done=share)


def _status(task: str, base_url: str, response: WireResponse) -> Step:
    rows = [mapping_of(each) for each in list_of(_data(response))]
    row = next((each for each in rows if each.get("task_id") == task), None)
    if row is None:
        raise ServerError(f"the answer has no state of the task {task}")
    results = _results(row.get("result"))
    state = row.get("status")
    if state == _RUNNING:
        return _waiting(task, base_url, results[0] if results else {"stage": row.get("progress_text")})
    if state == _FAILED:
        raise job_failed(next((each["error"] for each in results if each.get("error")), row.get("error")))
    if state != _SUCCEEDED:
        raise ServerError(f"the task is in the unknown state {state!r}")
    files = tuple(MadeFile(url=str(each["file"]), needs_key=True) for each in results if each.get("file"))
    if not files:
        raise ServerError("the task succeeded without a file")
    first = results[0]
    about = {name: first.get(name) for name in ("seed_value", "metas", "lyrics") if first.get(name)}
    return FinishedJob(files, model=first.get("dit_model"), metadata=metadata_of(id=task, **about))


def _results(text: object) -> list[dict[str, Any]]:
    """Returns the results of a task, which are a JSON text in the answer; empty for anything else."""
    try:
        value: Any = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return []
    return [mapping_of(each) for each in list_of(value)]
