"""The listed file extensions are those that handlers recognise."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstractcore import MediaError, Services, create_llm
from abstractcore.ports import HasExtensions
from abstractcore.registry import Registry
from tests.media_doubles import registry


def handlers():
    return Registry.from_entry_points().media_handlers


@pytest.fixture
def other_file(tmp_path: Path) -> Path:
    """A document that nothing here reads."""
    path = tmp_path / "letter.key"
    path.write_bytes(b"\x00\x01\x02\x03 of nothing known")
    return path


def test_unsupported_file_type_lists_the_supported_extensions(other_file: Path):
    with pytest.raises(MediaError, match=r"letter\.key has an unsupported file type") as caught:
        create_llm("scripted", replies=["never"]).build("Sum it up.", media=[other_file])
    hint = caught.value.hint or ""
    assert "pdf (pdf)" in hint
    assert "image (avif, bmp, gif, heic" in hint
    assert "docx (docm, docx" in hint
    assert "key" not in hint


@pytest.mark.parametrize("handler", handlers(), ids=lambda handler: handler.name)
def test_every_listed_extension_is_recognised(handler):
    assert isinstance(handler, HasExtensions)
    assert handler.extensions
    for ending in handler.extensions:
        head = b"a text" if handler.name == "text" else b"\x00\x01\x02\x03 of nothing known"
        first = next(each for each in handlers() if each.recognise(head, f"file.{ending}", None) is not None)
        assert first.name == handler.name, ending


def test_handler_without_extensions_is_listed_by_name(other_file: Path):
    services = Services(registry=registry())
    with pytest.raises(MediaError) as caught:
        create_llm("scripted", replies=["never"], services=services).build("Sum it up.", media=[other_file])
    assert (caught.value.hint or "").startswith("Supported file types: text; sound; picture. ")
