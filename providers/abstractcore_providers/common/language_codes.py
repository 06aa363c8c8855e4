"""Codes of languages (ISO 639) for the names that transcribers write, which are those of Whisper."""

from __future__ import annotations

import re

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
