"""Text files: decoded whole, with a warning where the encoding had to be guessed."""

import random
import sys

import pytest

from abstractcore.errors import MediaError, MissingExtraError
from abstractcore.schema import AudioPart, Blob, DocumentPart
from abstractcore_media import TextHandler
from tests.media.parts import NO_MODELS, takes, text_file, type_of

FRENCH = "Le château est situé à côté de la forêt, où l'été dernier nous avons mangé des crêpes."
GERMAN = "Grüße aus München – die Straße ist schön, „wirklich“ schön."  # noqa: RUF001
RUSSIAN = "Доброе утро, встреча начинается во вторник в девять тридцать."
JAPANESE = "おはようございます。会議は火曜日に始まります。"


def read(content: bytes):
    return TextHandler().convert(text_file(content), NO_MODELS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii"])
def test_unicode_is_decoded_without_warning_and_bom(encoding: str):
    text = "plain words\n" if encoding == "ascii" else "naïve 🙂\n"
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    conversion = read(mark + text.encode(encoding))
    assert (conversion.text, conversion.label, conversion.warnings) == (text, "text", ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "latin-1"),
        ("café crème", "latin-1"),
        ("Price: 12 € each, 25 °C", "cp1252"),
        (GERMAN, "cp1252"),
        ("Åke äter smörgås på ön.", "latin-1"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        ("早上好，会议将于星期二九点半开始。", "gbk"),  # noqa: RUF001
    ],
)
def test_legacy_encoding_is_guessed_with_a_warning(text: str, encoding: str):
    conversion = read(text.encode(encoding))
    assert conversion.text == text
    (warning,) = conversion.warnings
    assert warning.code == "text_encoding"
    assert isinstance(warning.sent, str)
    assert warning.sent in warning.message
    assert text.encode(warning.sent) == text.encode(encoding)


@pytest.mark.parametrize(
    "content", [b"", b" ", b"\n\n\t \r\n", b"\xef\xbb\xbf", "\u3000\u00a0".encode(), b"\xff\xfe \0"]
)
def test_white_space_alone_is_an_error(content: bytes):
    with pytest.raises(MediaError, match=r"has no text: it is empty, or white space"):
        read(content)
    with pytest.raises(MediaError, match="has no text"):
        TextHandler().check(text_file(content))


@pytest.mark.parametrize(
    "content",
    [
        b"a\0b",
        bytes(range(256)) * 9,
        b"\xff\xfea\0\x00\xd8",
        b"\xef\xbb\xbf\xff",
        bytes(random.Random(1).choices(range(1, 256), k=999)),
    ],
    ids=["nul", "every-byte", "half-a-surrogate", "mark-and-garbage", "noise-without-nul"],
)
def test_binary_content_is_refused_with_a_hint(content: bytes):
    handler = TextHandler()
    with pytest.raises(MediaError, match="the-file is not text") as caught:
        handler.convert(text_file(content), NO_MODELS)
    assert caught.value.source == "the-file"
    assert caught.value.hint
    with pytest.raises(MediaError, match="is not text"):
        handler.check(text_file(content))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["naïve", "Name;Ort\nAnn;Köln\n", "今日は、天気がいいです。\n明日も晴れる。\n"])
def test_utf16_without_a_mark_is_guessed_with_a_warning(text: str, encoding: str):
    conversion = read(text.encode(encoding))
    assert conversion.text == text
    assert [warning.sent for warning in conversion.warnings] == [encoding]


def test_a_few_nuls_between_records_are_left_out():
    assert read(b"the first record of a file\n\0the second record, which is longer\n\0").text.count("record") == 2
    assert read(b"Rope,\x0012.50\r\nOil,7\x00\r\n").text == "Rope,12.50\r\nOil,7\r\n"


def test_random_bytes_named_txt_are_recognised_so_that_the_error_can_explain():
    content = bytes(range(256))
    assert type_of(TextHandler(), content, "noise.txt") == "text/plain"
    assert type_of(TextHandler(), content, "noise.bin") is None


def test_long_line_is_read_completely():
    line = "word " * 20_000
    assert read(line.encode()).text == line


def test_only_text_types_are_recognised():
    handler = TextHandler()
    for media_type in ("text/plain", "text/csv", "application/json", "application/ld+json", "image/svg+xml"):
        assert takes(handler, text_file(b"x", media_type))
    assert not takes(handler, text_file(b"x", "application/pdf"))
    assert not takes(handler, AudioPart(Blob.from_bytes(b"x", "text/plain")))


def test_changed_or_deleted_file_is_refused(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("before")
    part = DocumentPart(Blob.from_file(path, "text/plain"))
    path.write_text("after")
    with pytest.raises(MediaError, match=r"note.txt cannot be read: .* has changed"):
        TextHandler().convert(part, NO_MODELS)
    path.unlink()
    with pytest.raises(MediaError, match=r"note.txt cannot be read: No such file"):
        TextHandler().convert(part, NO_MODELS)


def test_url_is_not_downloaded():
    part = DocumentPart(Blob.from_url("https://example.com/a.txt", "text/plain"))
    with pytest.raises(MediaError, match=r"is not at hand.* Download it, and pass the path"):
        TextHandler().convert(part, NO_MODELS)


def test_without_charset_normalizer_legacy_encoding_names_the_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    assert read("naïve".encode()).text == "naïve"
    with pytest.raises(MissingExtraError, match="pip install charset-normalizer"):
        read("naïve".encode("latin-1"))
