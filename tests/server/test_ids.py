"""Ids by which clients find again what they stored: no one can guess them."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import httpx2

from tests.server.serving import Served

_ID = re.compile(r"(?:\b|_)([0-9a-f]{32})\b")
MESSAGES = {"model": "scripted", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
CALLS: Mapping[str, Mapping[str, Any]] = {
    "/v1/chat/completions": MESSAGES,
    "/v1/messages": MESSAGES,
    "/v2/chat": MESSAGES,
    "/api/chat": {**MESSAGES, "stream": False},
    "/v1/completions": {"model": "scripted", "prompt": "hi"},
    "/v1beta/models/scripted:generateContent": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "/v1/responses": {"model": "scripted", "input": "hi"},
}
UPLOAD = {"bytes": 2, "filename": "a.txt", "mime_type": "text/plain", "purpose": "user_data"}


def ids_of(http: httpx2.Client, served: Served) -> dict[str, set[str]]:
    """Returns the ids in the answer of each route that makes some."""
    answers: dict[str, httpx2.Response] = {}
    for path, body in CALLS.items():
        served.script("Hello.")
        answers[path] = http.post(path, json=body)
    answers["/v1/files"] = http.post(
        "/v1/files", data={"purpose": "user_data"}, files={"file": ("a.txt", b"ab", "text/plain")}
    )
    items = {"items": [{"type": "message", "role": "user", "content": "hi"}]}
    answers["/v1/conversations"] = conversation = http.post("/v1/conversations", json=items)
    answers["/items"] = http.get(f"/v1/conversations/{conversation.json()['id']}/items")
    answers["/v1/uploads"] = upload = http.post("/v1/uploads", json=UPLOAD)
    answers["/parts"] = http.post(f"/v1/uploads/{upload.json()['id']}/parts", files={"data": b"ab"})
    assert {answer.status_code for answer in answers.values()} == {200}
    return {path: {*_ID.findall(f"{answer.headers} {answer.text}")} for path, answer in answers.items()}


def test_no_id_of_an_answer_can_be_computed_from_others(served: Served, http: httpx2.Client):
    """Python's `random` repeats itself from a state, and 624 of its numbers tell the state."""
    before = random.getstate()
    try:
        random.seed(0)
        first = ids_of(http, served)
        random.seed(0)
        second = ids_of(http, served)
    finally:
        random.setstate(before)
    assert len(first) == 12
    assert all(first.values())
    assert set.union(*first.values()).isdisjoint(set.union(*second.values()))
