"""An Office Open XML package: its parts and the relationships between them (ECMA-376, part 2)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Set
from dataclasses import dataclass
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from ..format_handler import DocumentFile
from ..xml_elements import elements
from ..zip_members import ZipMembers
from .decryption import decrypted

_DOCUMENT = "officeDocument"
_MAIN_PARTS = ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml")


@dataclass(frozen=True, slots=True)
class Relationship:
    """A reference of a part: `kind` is the last word of its type, `target` a path in the package, or a URL."""

    kind: str
    target: str
    is_external: bool = False


def address_with_place(address: str, place: str) -> str:
    """Returns an address with the place in it that a link names besides."""
    return f"{address}#{place}" if address and place and "#" not in address else address


class Package:
    """The parts of a file. `what` names the format in errors."""

    def __init__(self, file: DocumentFile, what: str) -> None:
        self.work = file.work
        self.losses = file.losses
        self._members = ZipMembers(decrypted(file), file.work, what, file.losses)
        roots = self.relationships("")
        main = next((each.target for each in roots.values() if each.kind == _DOCUMENT), "")
        self.main = main or next(filter(self._members.__contains__, _MAIN_PARTS), "")
        """The path of the main part."""
        if self.main not in self._members:
            raise file.work.corrupt(what, "it has no main part")

    def has(self, path: str) -> bool:
        """Whether there is such a part."""
        return path in self._members

    def read(self, path: str) -> bytes:
        """Returns the content of a part, b"" if there is none."""
        return self._members.read(path)

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yields the content of a part, nothing if there is none."""
        return self._members.chunks(path)

    def whole(self, path: str, root: str) -> Element:
        """Returns the element `root` of a part, an empty one if there is none."""
        return next(self.elements(path, root), Element(root))

    def elements(self, path: str, *wanted: str, announced: Set[str] = frozenset()) -> Iterator[Element]:
        """Yields elements of a part by name, each when it is complete; what is not read in it is counted."""
        return elements(self.chunks(path), frozenset(wanted), announced, self.losses, path)

    def relationships(self, path: str) -> dict[str, Relationship]:
        """Returns the relationships of a part, by id; of the package itself for ""."""
        folder, name = posixpath.split(path)
        found: dict[str, Relationship] = {}
        for each in self.elements(posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship"):
            target = each.get("Target", "")
            external = each.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            kind = each.get("Type", "").rpartition("/")[2]
            found[each.get("Id", "")] = Relationship(kind, target, external)
        return found

    def related(self, path: str, kind: str) -> str:
        """Returns the path of the first part that a part refers to as `kind`; "" if there is none."""
        found = self.relationships(path).values()
        return next((each.target for each in found if each.kind == kind and not each.is_external), "")
