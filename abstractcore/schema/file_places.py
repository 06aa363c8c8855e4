"""`FilePlaces`: what is the same for everything that stands somewhere in a file: its anchors, read in one word."""

from __future__ import annotations

from .. import schema


class FilePlaces:
    """Base class of records with `anchors`, the places in the file, of which these are the first of each kind."""

    __slots__ = ()
    anchors: tuple[schema.MediaAnchor, ...]

    @property
    def box(self) -> tuple[float, ...] | None:
        """The part of the page or image: left, top, right and bottom, each from 0 to 1."""
        return next((each.box for each in self.anchors if each.box is not None), None)

    @property
    def sheet(self) -> str | None:
        """The sheet of a spreadsheet."""
        return next((each.sheet for each in self.anchors if each.sheet is not None), None)

    @property
    def cell(self) -> str | None:
        """The cell of the sheet, or a range of cells: "B7", "A2:F2"."""
        return next((each.cell for each in self.anchors if each.cell is not None), None)

    @property
    def paragraph(self) -> int | None:
        """The paragraph, from 1, of a document without pages."""
        return next((each.paragraph for each in self.anchors if each.paragraph is not None), None)

    @property
    def seconds(self) -> tuple[float, float] | None:
        """The begin of the first and the end of the last part of a recording; of a frame, both are its time."""
        found = [each.seconds for each in self.anchors if each.seconds is not None]
        return (found[0][0], max(end for _, end in found)) if found else None

    @property
    def member(self) -> str | None:
        """The path of a file in an archive, or the name of an attachment or of an embedded picture."""
        return next((each.member for each in self.anchors if each.member is not None), None)
