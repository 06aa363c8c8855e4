"""Kinds of output that a model does not produce are left out; what is unknown is sent."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import Message, ModelCall
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile

TEXT_ONLY, AUDIO = frozenset[str](), frozenset({"audio"})


@pytest.mark.parametrize(
    ("produces", "asked", "sent"),
    [
        (None, ("text", "audio"), ("text", "audio")),
        (TEXT_ONLY, (), ()),
        (TEXT_ONLY, ("text",), ("text",)),
        (TEXT_ONLY, ("audio",), ()),
        (TEXT_ONLY, ("text", "audio"), ()),
        (AUDIO, ("text", "audio"), ("text", "audio")),
        (AUDIO, ("audio", "image"), ("audio",)),
        (AUDIO, ("text", "image", "audio"), ("text", "audio")),
        (AUDIO, ("image",), ()),
    ],
)
def test_modalities_that_a_model_does_not_produce_are_left_out(produces: Any, asked: Any, sent: Any):
    found = lower(ModelCall("m", (Message.user("hi"),), "p", modalities=asked), ModelProfile(produces=produces), ())
    assert found.call.modalities == sent
    expected = [] if sent == asked else [("unsupported_option", "modalities", list(asked), list(sent) or None)]
    assert [(each.code, each.path, each.requested, each.sent) for each in found.warnings] == expected
    assert lower(found.call, ModelProfile(produces=produces), ()).warnings == ()


def test_warning_names_what_is_missing():
    call = ModelCall("m", (Message.user("hi"),), "p", modalities=("image", "audio"))
    (warning,) = lower(call, ModelProfile(produces=TEXT_ONLY), ()).warnings
    assert warning.message.endswith("m produces no image and audio")
