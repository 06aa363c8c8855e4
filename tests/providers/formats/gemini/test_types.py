"""Our requests and responses match the vendor's types."""

import json
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from pydantic import ValidationError

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import ModelCall, ModelReply
from tests.properties import examples
from tests.providers.formats.gemini import generated
from tests.providers.formats.gemini.wire import GEMINI, check_types, response


def without_opaque(body: Any) -> Any:
    """What only the provider understands may be anything."""
    for content in body["contents"]:
        content["parts"] = [part for part in content["parts"] if "new" not in part]
    return body


@pytest.mark.exhaustive
@examples(40)
@given(generated.calls(options=False))
def test_every_request_matches_the_vendors_types(call: ModelCall):
    try:
        request = GEMINI.encode(call.with_(provider_options={})).request
    except (InvalidInputError, UnsupportedContentError):
        return
    hosted = call.with_(provider_options={}, hosted_tools=())
    check_types(without_opaque(json.loads(GEMINI.encode(hosted).request.body)))
    assert GEMINI.parse(request).call.model == call.model


@examples(40)
@given(generated.replies(options=False))
def test_every_reply_matches_the_vendors_types(reply: ModelReply):
    plain = ModelReply(reply.parts, reply.finish_reason, usage=reply.usage, model=reply.model, id=reply.id)
    body = json.loads(GEMINI.render(plain).body)
    body["candidates"][0]["content"]["parts"] = [
        part for part in body["candidates"][0]["content"]["parts"] if "new" not in part
    ]
    usage = body.get("usageMetadata", {})
    typed = {name: value for name, value in usage.items() if name != "serviceTier"}  # the class has no such field
    answer = types.GenerateContentResponse.model_validate({**body, "usageMetadata": typed})
    assert answer.candidates is not None
    assert GEMINI.decode(response(body)).finish_reason


def test_vendors_types_refuse_unknown_fields():
    with pytest.raises(ValidationError):
        check_types({"contents": [{"role": "user", "parts": [{"txt": "hi"}]}]})
