"""`visible`: untrusted text with its control and bidirectional characters made visible.

Answers, names of models and of files are untrusted: escape sequences could change a screen, the title of a window or
the clipboard, and bidirectional characters the order in which a line is read (unicode.org/reports/tr36, "Bidirectional
Text Spoofing"). ASCII control characters are shown as symbols, others and lone surrogates as U+FFFD; carriage returns,
common in line ends, are removed. Joiners and direction marks stay: emoji and many languages need them.
"""

from __future__ import annotations

import re
from typing import Final

_UNSEEN: Final = (
    *range(0x7F, 0xA0),  # DEL and the controls of Latin-1
    *range(0x2028, 0x202F),  # line and paragraph separators; bidirectional embeddings and overrides
    *range(0x2066, 0x2070),  # bidirectional isolates; deprecated format characters
    *range(0xD800, 0xE000),  # surrogates, which no encoding can write
    *range(0xFFF9, 0xFFFC),  # interlinear annotations
)
_VISIBLE: Final[dict[int, int | None]] = {
    **{code: 0x2400 + code for code in range(0x20)},
    **dict.fromkeys(_UNSEEN, 0xFFFD),
    ord("\t"): ord("\t"),
    ord("\n"): ord("\n"),
    ord("\r"): None,
}
_ESCAPED: Final = re.compile(f"[{''.join(map(chr, _UNSEEN))}]")


def visible(text: str) -> str:
    """Returns a text with visible control and bidirectional characters."""
    return text.translate(_VISIBLE)


def visible_json(text: str) -> str:
    """Returns a JSON text in which characters that `visible` replaces are escaped; JSON itself requires that of ASCII
    control characters.
    """
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
