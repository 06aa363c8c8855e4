"""Sound in requests and responses.

Audio input in OpenAI's formats. Audio in chunks: raw samples without a header, which can be concatenated. Codes of
languages (ISO 639) for the names that transcribers write, which are those of Whisper.
"""

from __future__ import annotations

import re
from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import AudioPart, Blob

from .data_urls import read_base64, write_base64
from .reading import Object, get_object, text_of

AUDIO_FORMATS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
_TYPES = {format: media_type for media_type, format in AUDIO_FORMATS.items()}


def write_audio(blob: Blob, path: str) -> Object:
    """Returns the `input_audio` object for content of one of the `AUDIO_FORMATS`."""
    return {"data": write_base64(blob, path), "format": AUDIO_FORMATS[blob.media_type]}


def read_audio(value: Any, path: str) -> Blob:
    """Reads the content of an `input_audio` object; raises `InvalidInputError` with the path of what is wrong."""
    data = get_object(value, path)
    media_type = _TYPES.get(text_of(data, "format") or "")
    if media_type is None:
        raise InvalidInputError(f"use {' or '.join(map(repr, _TYPES))}", path=f"{path}.format")
    return Blob.from_bytes(read_base64(data.get("data"), f"{path}.data"), media_type)


_SAMPLES = ("audio/l16", "audio/l24", "audio/pcm")


def is_samples(part: object) -> bool:
    """Whether `part` is raw samples, as in `audio/L16;codec=pcm;rate=24000`."""
    if not isinstance(part, AudioPart) or part.blob.form != "bytes":
        return False
    return part.blob.media_type.partition(";")[0].strip() in _SAMPLES


class SoundPieces:
    """The chunks of one audio part, of one media type."""

    def __init__(self) -> None:
        self._pieces: list[AudioPart] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def takes(self, part: AudioPart) -> bool:
        """Whether `part` can be the next chunk."""
        before = self._pieces[-1] if self._pieces else None
        return (
            before is not None
            and before.blob.media_type == part.blob.media_type
            and before.provider_options == part.provider_options
        )

    def add(self, part: AudioPart) -> None:
        """Adds the next chunk."""
        self._pieces.append(part)

    def end(self) -> AudioPart:
        """Returns the whole audio as one part, and starts anew."""
        first = self._pieces[0]
        whole = b"".join(piece.blob.read() for piece in self._pieces)
        self._pieces = []
        return AudioPart(Blob.from_bytes(whole, first.blob.media_type), provider_options=first.provider_options)


_NAMES = (
    "afrikaans:af albanian:sq amharic:am arabic:ar armenian:hy assamese:as azerbaijani:az "
    "bashkir:ba basque:eu belarusian:be bengali:bn bosnian:bs breton:br bulgarian:bg "
    "cantonese:yue catalan:ca chinese:zh croatian:hr czech:cs danish:da dutch:nl english:en "
    "estonian:et faroese:fo finnish:fi french:fr galician:gl georgian:ka german:de greek:el "
    "gujarati:gu haitian_creole:ht hausa:ha hawaiian:haw hebrew:he hindi:hi hungarian:hu "
    "icelandic:is indonesian:id italian:it japanese:ja javanese:jv kannada:kn kazakh:kk khmer:km "
    "korean:ko lao:lo latin:la latvian:lv lingala:ln lithuanian:lt luxembourgish:lb macedonian:mk "
    "malagasy:mg malay:ms malayalam:ml maltese:mt maori:mi marathi:mr mongolian:mn myanmar:my "
    "nepali:ne norwegian:no nynorsk:nn occitan:oc pashto:ps persian:fa polish:pl portuguese:pt "
    "punjabi:pa romanian:ro russian:ru sanskrit:sa serbian:sr shona:sn sindhi:sd sinhala:si "
    "slovak:sk slovenian:sl somali:so spanish:es sundanese:su swahili:sw swedish:sv tagalog:tl "
    "tajik:tg tamil:ta tatar:tt telugu:te thai:th tibetan:bo turkish:tr turkmen:tk ukrainian:uk "
    "urdu:ur uzbek:uz vietnamese:vi welsh:cy yiddish:yi yoruba:yo"
)
_CODES = {name.replace("_", " "): code for name, code in (each.split(":") for each in _NAMES.split())}
_CODE = re.compile(r"([a-z]{2,3})([-_][a-z0-9]+)*", re.IGNORECASE)


def language_code(name: str) -> str | None:
    """Returns the code of a language, "en" for "english", "en" or "en-US"; None for a name that is not known."""
    code = _CODES.get(name.lower())
    if code is not None:
        return code
    found = _CODE.fullmatch(name)
    return found[1].lower() if found else None
