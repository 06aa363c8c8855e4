"""A long text drawn as pages, relative to drawing its rows with Pillow alone and saving them as PNG."""

from __future__ import annotations

import io
from collections.abc import Callable

from rounds import Row, Setup, best, cpu_seconds

_GOAL = 1.0
_ROWS, _ACROSS = 126, 190


def drawn_pages(setup: Setup) -> list[Row]:
    """A page of 126 rows with 190 characters each."""
    from PIL.Image import new
    from PIL.ImageDraw import Draw
    from PIL.ImageFont import truetype

    from abstractcore_media.document.glyphs.drawing import font_path, pen
    from abstractcore_media.document.glyphs.geometry import CELLS, PageSize
    from abstractcore_media.document.glyphs.layout import Columns

    cell, size = CELLS[0], PageSize(960, 1268)
    rows = [f"Row {n}: the quick brown fox jumps over the lazy dog. " * 5 for n in range(_ROWS)]
    rows = [row[:_ACROSS] for row in rows]
    columns, drawing = Columns(1, _ACROSS, _ROWS), pen(cell)
    font = truetype(io.BytesIO(font_path().read_bytes()), cell.size)

    def pillow() -> None:
        image = new("L", (size.width, size.height), 255)
        pencil = Draw(image)
        for number, row in enumerate(rows):
            pencil.text((4, 4 + number * cell.height), row, fill=0, font=font)
        image.save(io.BytesIO(), "PNG")

    batches: dict[str, Callable[[], float]] = {
        "ours": cpu_seconds(lambda: drawing.page(rows, columns, size), 1),
        "pillow": cpu_seconds(pillow, 1),
    }
    times = best(batches, max(4, setup.rounds // 2))
    return [Row("page of 24,000 characters / Pillow", times["ours"], times["pillow"], goal=_GOAL)]
