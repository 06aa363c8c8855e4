"""Media handlers of plugins that fail do not affect other files."""

from __future__ import annotations

import logging

import pytest

from abstractcore import Blob, DocumentPart, MediaError, PluginError, Services, create_llm
from abstractcore.ports import Conversion, Recognised
from tests.plugin_doubles import giving, thing


def fails(*arguments):
    raise ZeroDivisionError


def asked(**members) -> str:
    """What the model is sent of a text file, with a plugin that has such a handler."""
    services = Services(environment={})
    handler = thing("media handler", "unlucky", **members)
    services.registry.add_plugin("p", lambda: giving(media_handler=[handler]), distribution="unlucky 1.0")
    llm = create_llm("scripted", replies=["a"], services=services)
    llm.generate("What is it?", media=[b"plain words"])
    return llm.calls[0].messages[0].text


def fails_for_declared_types(head, name, declared):
    return fails() if declared else None


@pytest.mark.parametrize("recognise", [fails, fails_for_declared_types])
def test_handler_that_raises_in_recognise_is_skipped_and_logged(recognise, caplog):
    with caplog.at_level(logging.WARNING, "abstractcore"):
        assert "plain words" in asked(recognise=recognise)
    assert "the media handler 'unlucky' (plugin 'p' of unlucky 1.0) failed to recognise a file" in caplog.text


RUBBISH = [
    5,
    "text/plain",
    True,
    [],
    Recognised("text", "text"),
    Recognised("text", b"a/b"),
    Recognised("sound", "a/b"),
]


@pytest.mark.parametrize("answer", RUBBISH, ids=repr)
def test_handler_that_returns_an_invalid_value_is_skipped_and_logged(answer, caplog):
    with caplog.at_level(logging.WARNING, "abstractcore"):
        assert "plain words" in asked(recognise=lambda head, name, declared: answer)
    assert "the media handler 'unlucky' (plugin 'p' of unlucky 1.0) returned" in caplog.text


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (fails, r"the media handler 'unlucky' \(plugin 'p' of unlucky 1\.0\) failed: ZeroDivisionError"),
        (lambda part, context: "text", r"the media handler 'unlucky' .* returns a str: expected a Conversion"),
        (
            lambda part, context: Conversion(b"text", "text"),
            r"'unlucky' .* returns an invalid Conversion: content: expected a sequence of parts, got bytes",
        ),
        (
            lambda part, context: Conversion("text", None),
            r"'unlucky' .* returns an invalid Conversion: label: expected text",
        ),
        (
            lambda part, context: Conversion("text", "text", usage=3),
            r"'unlucky' .* returns an invalid Conversion: usage: ",
        ),
        (
            lambda part, context: Conversion("text", "text", None, ("odd",)),
            r"returns an invalid Conversion: warnings\[0\]: ",
        ),
    ],
)
def test_handler_that_fails_to_convert_is_named(convert, message):
    with pytest.raises(PluginError, match=message):
        asked(recognise=odd, convert=convert)


def test_unreadable_file_is_a_media_error():
    def convert(part, context):
        raise OSError("the disk is on fire")

    with pytest.raises(MediaError, match="the disk is on fire"):
        asked(recognise=odd, convert=convert)


def odd(head, name, declared) -> Recognised | None:
    return Recognised("document", "text/x-odd") if declared in (None, "text/x-odd") else None


def test_handler_that_fails_to_check_is_named():
    services = Services(environment={})
    handler = thing("media handler", "unlucky", recognise=odd, check=fails)
    services.registry.add_plugin("p", lambda: giving(media_handler=[handler]))
    llm = create_llm("scripted", replies=["a"], services=services, accepts=["text/x-odd"])
    with pytest.raises(PluginError, match=r"the media handler 'unlucky' .* failed: ZeroDivisionError"):
        llm.generate("hi", media=[DocumentPart(Blob.from_bytes(b"odd", "text/x-odd"))])
