"""Checks the licences of what the distributions require, by `uv.lock` and the metadata of what is installed:
`python -m release.licences`. `--list` shows a row for each package.

What the core always requires is permissive, without exception; what extras and plugins add is permissive, or named here
with a reason. Metadata do not describe libraries inside wheels, so those are looked for by the names of their files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import cast

from release.projects import TESTS_EXTRA, locked_base, locked_extra, projects

PERMISSIVE = frozenset(
    {
        "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT",
        "MIT-0", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib",
    }
)  # fmt: skip
_SPELLINGS = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psf": "PSF-2.0",
    "public domain": "Unlicense",
    "python software foundation license": "PSF-2.0",
}
"""Licences as older metadata spell them. "BSD" does not say how many clauses: all of them are permissive."""
READ_BY_HAND = {
    "colorama": "BSD-3-Clause",  # its LICENSE.txt; on Windows only
    "httpx2-jsfetch": "BSD-3-Clause",  # its metadata; in browsers only
    "mistralai": "Apache-2.0",  # its LICENSE
    "pypdfium2": "Apache-2.0 OR BSD-3-Clause",  # its LICENSES, which is for each file
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",  # its LICENSE
    "pywin32": "PSF-2.0",  # its metadata; on Windows only
    "resvg-py": "MIT",  # its LICENSE
}
"""Of packages whose metadata have no licence, or that are for other systems."""
ALLOWED = {
    "av": "its wheels hold FFmpeg with x264 and x265 (GPL) as shared libraries: whoever ships them ships those",
    "certifi": "MPL-2.0 is for its own files only: a list of certificates",
    "opencv-python-headless": "its FFmpeg (LGPL) is a shared library that nothing here calls",
    "pi-heif": "its wheels hold libheif and libde265 (LGPL): the extra `heic`, which is not in `all`",
    "pycurl": "its wheels hold libidn2 and libunistring (LGPL or GPL) as shared libraries: the extra `fast`",
    "symusic": "its wheels hold abc2midi and midi2abc (GPL), programs that are never run here",
    "tqdm": "MPL-2.0 is for its own files only: progress bars",
}
"""What extras and plugins require although it is not permissive, or holds what is not, and why."""
COPYLEFT_LIBRARIES = {
    "asound": "LGPL-2.1", "avcodec": "LGPL-2.1", "de265": "LGPL-3.0", "gmp": "LGPL-3.0", "gnutls": "LGPL-2.1",
    "heif": "LGPL-3.0", "hogweed": "LGPL-3.0", "idn2": "LGPL-3.0", "mp3lame": "LGPL-2.0", "nettle": "LGPL-3.0",
    "rubberband": "GPL-2.0", "sndfile": "LGPL-2.1", "soxr": "LGPL-2.1", "unistring": "LGPL-3.0", "x264": "GPL-2.0",
    "x265": "GPL-2.0",
}  # fmt: skip
"""Libraries that wheels often hold, as their files are named: `libx264-d6533a8d.so.165`."""
COPYLEFT_PROGRAMS = {"abc2midi": "GPL-2.0", "espeak-ng": "GPL-3.0", "ffmpeg": "GPL-2.0", "midi2abc": "GPL-2.0"}
_COPYLEFT = COPYLEFT_LIBRARIES | COPYLEFT_PROGRAMS
_FILE = re.compile(r"(?:^|/)(?:lib(\w+?)(?:[-.][^/]*)?\.(?:so|dylib|dll)[.\d]*|bin/([\w-]+?)(?:\.exe)?)$")


@dataclass(frozen=True)
class Licence:
    """The licence of a package: an SPDX expression, or what its metadata have instead."""

    name: str
    expression: str
    bundled: tuple[str, ...] = ()
    """Libraries and programs in its files that are under a copyleft licence."""

    @property
    def is_permissive(self) -> bool:
        """Whether one may use it, and what it holds, under permissive licences alone."""
        return not self.bundled and is_permissive(self.expression)

    def __str__(self) -> str:
        held = "".join(f", holds {name} ({_COPYLEFT[name]})" for name in self.bundled)
        return f"{self.name}: {self.expression or 'no licence in its metadata'}{held}"


def is_permissive(expression: str) -> bool:
    """Whether an SPDX expression can be fulfilled by permissive licences alone. AND binds more tightly than OR."""
    while inner := re.search(r"\(([^()]*)\)", expression):
        allowed = "MIT" if is_permissive(inner[1]) else "not permissive"
        expression = expression[: inner.start()] + allowed + expression[inner.end() :]
    choices = (choice.split(" AND ") for choice in expression.split(" OR "))
    return any(all(each.strip() in PERMISSIVE for each in choice) for choice in choices)


def licence(name: str) -> Licence | None:
    """Reads the licence of an installed package; None if it is not installed and not known here."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return Licence(name, READ_BY_HAND[name]) if name in READ_BY_HAND else None
    return Licence(name, READ_BY_HAND.get(name) or _expression(found), _bundled(found))


def _expression(found: Distribution) -> str:
    metadata = cast("Message", found.metadata)
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [row.split(" :: ")[-1] for row in metadata.get_all("Classifier", []) if row.startswith("License :: ")]
    texts = [row for row in classifiers if row != "OSI Approved"] or [metadata.get("License", "").strip()]
    # Several classifiers do not say whether one may choose, so all of them count.
    return " AND ".join(_SPELLINGS.get(text.lower(), text) for text in texts)


def _bundled(found: Distribution) -> tuple[str, ...]:
    matches = [match for file in found.files or [] if (match := _FILE.search(str(file)))]
    libraries, programs = {match[1] for match in matches}, {match[2] for match in matches}
    return tuple(sorted((libraries & COPYLEFT_LIBRARIES.keys()) | (programs & COPYLEFT_PROGRAMS.keys())))


def required() -> dict[str, bool]:
    """Returns what the distributions require, with their extras, and whether the core always does."""
    base = locked_base("abstractcore")
    others: set[str] = set()
    for each in projects():
        others |= locked_base(each.name)
        others.update(*(locked_extra(each.name, extra) for extra in each.extras if extra != TESTS_EXTRA))
    return {name: name in base for name in sorted(base | others)}


def problems(
    needed: Mapping[str, bool], licences: Iterable[Licence], allowed: Mapping[str, str] = ALLOWED
) -> list[str]:
    """Returns a line for each package that may not be required, or whose licence is not known."""
    by_name = {each.name: each for each in licences}
    rows = [f"{name}: not installed, so that its licence is not known" for name in needed if name not in by_name]
    for each in by_name.values():
        if not each.is_permissive and needed[each.name]:
            rows.append(f"{each} is not permissive, and the core always requires it")
        elif not each.is_permissive and each.name not in allowed:
            rows.append(f"{each} is not permissive: give a reason in ALLOWED, or do without it")
    unneeded = [name for name in allowed if name not in by_name or by_name[name].is_permissive]
    return [*rows, *(f"{name}: in ALLOWED without need" for name in unneeded)]


def main(arguments: Iterable[str]) -> int:
    """Prints what is wrong, or one line; returns 1 if something is."""
    needed = required()
    licences = [found for name in needed if (found := licence(name))]
    if "--list" in arguments:
        print("\n".join(f"{'core ' if needed[each.name] else 'extra'} {each}" for each in licences))
    wrong = problems(needed, licences)
    for row in wrong:
        print(row, file=sys.stderr)
    if not wrong:
        always = sum(needed.values())
        added = len(needed) - always - len(ALLOWED)
        print(f"Licences: permissive are {always} packages that the core requires, and {added} of extras and plugins;")
        print(f"not permissive, with a reason: {', '.join(sorted(ALLOWED))}.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
