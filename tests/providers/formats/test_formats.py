"""Published examples of every format, read and written. A new format needs files here, no code."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from abstractcore import errors
from abstractcore.errors import ProviderError, StreamInterruptedError
from abstractcore.schema import ModelReply, accumulate
from abstractcore.testing import (
    check_call_losses,
    check_encode_again,
    check_errors,
    check_render_again,
    check_reply_losses,
    check_stream,
)
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.published import (
    KINDS,
    Fixture,
    decoded,
    fixtures,
    folder,
    frames_of,
    reply_of,
    request_of,
    response_of,
    spelling,
    stream_of,
)

STREAMS_OF_REPLIES = [
    (stream, reply) for stream in fixtures("stream") for reply in fixtures("reply") if stream.twin_of(reply)
]


def comparable(reply: ModelReply) -> ModelReply:
    """The reply without the vendor's own fields for things that it also reports in ours."""
    return replace(reply, raw_finish_reason=None, warnings=())


def said(value: Any) -> Any:
    """JSON without empty values: null, and empty lists and objects."""
    if isinstance(value, dict):
        kept = {key: said(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, [], {})}
    return [said(item) for item in value] if isinstance(value, list) else value


def differing(printed: Any, ours: Any, path: str = "") -> set[str]:
    """Returns the paths at which two JSON values differ; `[]` for any index."""
    if isinstance(printed, dict) and isinstance(ours, dict):
        keys = {**printed, **ours}
        found = (differing(printed.get(k), ours.get(k), f"{path}.{k}" if path else k) for k in keys)
        return set().union(*found)
    if isinstance(printed, list) and isinstance(ours, list) and len(printed) == len(ours):
        pairs = zip(printed, ours, strict=True)
        return set().union(*(differing(one, other, f"{path}[]") for one, other in pairs))
    return set() if printed == ours else {path}


@pytest.mark.parametrize("fixture", fixtures("request"), ids=str)
def test_published_request_survives_a_round_trip_except_spelling(fixture: Fixture):
    transpiler, request = fixture.transpiler, request_of(fixture)
    parsed = transpiler.parse(request)
    encoded = transpiler.encode(parsed.call)
    assert encoded.warnings == ()
    assert encoded.request.url == request.url
    changed = differing(said(json.loads(request.body)), said(json.loads(encoded.request.body)))
    assert changed <= set(spelling(fixture.format)), "undocumented differences from what is printed"
    check_call_losses(transpiler, parsed.call)
    check_encode_again(transpiler, parsed.call)


@pytest.mark.parametrize("format", FORMATS)
def test_every_documented_spelling_difference_occurs(format: str):
    found = set[str]()
    for fixture in fixtures("request"):
        if fixture.format == format:
            printed = request_of(fixture)
            ours = fixture.transpiler.encode(fixture.transpiler.parse(printed).call).request
            found |= differing(said(json.loads(printed.body)), said(json.loads(ours.body)))
    assert found == set(spelling(format))


@pytest.mark.parametrize("fixture", fixtures("reply", "stream"), ids=str)
def test_published_reply_is_rendered_identically(fixture: Fixture):
    reply = reply_of(fixture)
    assert reply.parts
    rendered = fixture.transpiler.render(reply)
    assert rendered.warnings == ()
    assert comparable(fixture.transpiler.decode(response_of(rendered.body.decode()))) == comparable(reply)
    check_reply_losses(fixture.transpiler, reply)
    check_render_again(fixture.transpiler, reply)
    check_stream(fixture.transpiler, reply)


@pytest.mark.exhaustive
@pytest.mark.parametrize("fixture", fixtures("stream"), ids=str)
def test_published_stream_does_not_depend_on_chunk_boundaries(fixture: Fixture):
    transpiler = fixture.transpiler
    stream = stream_of(transpiler, fixture.read())
    whole = frames_of(transpiler, [stream])
    deltas = list(decoded(transpiler, whole))
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))
    for place in range(1, len(stream)):
        assert frames_of(transpiler, [stream[:place], stream[place:]]) == whole
    bytewise = frames_of(transpiler, [stream[i : i + 1] for i in range(len(stream))])
    assert list(decoded(transpiler, bytewise)) == deltas


@pytest.mark.parametrize(("stream", "reply"), STREAMS_OF_REPLIES, ids=str)
def test_published_stream_accumulates_to_its_reply(stream: Fixture, reply: Fixture):
    assert comparable(reply_of(stream)) == comparable(reply_of(reply))


@pytest.mark.parametrize("fixture", fixtures("stream"), ids=str)
def test_truncated_published_stream_is_an_error_unless_complete(fixture: Fixture):
    transpiler = fixture.transpiler
    frames = frames_of(transpiler, [stream_of(transpiler, fixture.read())])
    whole = accumulate(decoded(transpiler, frames))
    interrupted = 0
    for count in range(1, len(frames)):
        try:
            reply = accumulate(decoded(transpiler, frames[:count]))
        except StreamInterruptedError:
            interrupted += 1
        else:
            assert (reply.parts, reply.finish_reason) == (whole.parts, whole.finish_reason)
    assert interrupted


@pytest.mark.parametrize("fixture", fixtures("error"), ids=str)
def test_published_error_is_classified_by_cause(fixture: Fixture):
    """Beside `class`, a file may say the `request_id`, `retry_after` and `code` that are expected."""
    data = fixture.read()
    response = response_of(data["body"], data["status"], data.get("headers", {}))
    error = fixture.transpiler.error(response)
    assert type(error) is getattr(errors, data["class"])
    assert isinstance(error, ProviderError)
    assert error.status == data["status"]
    for name in {"request_id", "retry_after", "code"} & set(data):
        assert getattr(error, name) == data[name], name
    check_errors(fixture.transpiler, error)


@pytest.mark.parametrize("format", FORMATS)
def test_every_kind_of_fixture_exists_and_names_its_source(format: str):
    own = [fixture for fixture in fixtures() if fixture.format == format]
    assert {fixture.kind for fixture in own} == set(KINDS)
    assert {path.name for path in (folder(format) / "published").iterdir()} == {f.path.name for f in own}
    sources = (folder(format) / "SOURCES.md").read_text(encoding="utf-8")
    unnamed = [fixture.path.name for fixture in own if not re.search(rf"\b{re.escape(fixture.name)}\b", sources)]
    assert unnamed == []


@pytest.mark.process
def test_formats_are_imported_on_first_use():
    """But for the one that the vendors' rows are of."""
    code = (
        "import sys, abstractcore_providers.formats.registered as formats, abstractcore_providers.plugin as plugin\n"
        "plugin.register_providers(), plugin.register_wire_formats()\n"
        "print([name for name in formats.FORMATS if f'abstractcore_providers.formats.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['openai_chat']")
