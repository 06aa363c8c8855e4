"""Writes `number_formats.json` again: what LibreOffice shows for each format and value in it. Needs `soffice`."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path

import openpyxl
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from tests.media.document.documents import DOCUMENTS

STORED = DOCUMENTS / "number_formats.json"
AS_SHOWN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true"


def shown(rows: list[tuple[str, str]], *, is_1904: bool) -> list[str]:
    """What a workbook of cells (format, value) shows, converted to CSV."""
    book = openpyxl.Workbook()
    if is_1904:
        book.epoch = CALENDAR_MAC_1904
    for number, (code, value) in enumerate(rows, 1):
        is_text = value in ("word", "12")
        book.active.cell(number, 1, value if is_text else float(value)).number_format = code
        book.active.cell(number, 2, "end")
    book.active.column_dimensions["A"].width = 80
    with tempfile.TemporaryDirectory() as folder:
        book.save(Path(folder, "formats.xlsx"))
        command = ["soffice", "--headless", "--convert-to", AS_SHOWN, "formats.xlsx"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        with Path(folder, "formats.csv").open(encoding="utf-8", newline="") as file:
            return [row[0] for row in csv.reader(file)]


def main() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    stored["program"] = subprocess.run(
        ["soffice", "--version"], check=True, capture_output=True, text=True
    ).stdout.strip()
    for system in ("1900", "1904"):
        rows = [(code, value) for code, texts in stored[system].items() for value in texts]
        for (code, value), text in zip(rows, shown(rows, is_1904=system == "1904"), strict=True):
            stored[system][code][value] = text
    lines = [f' "program": {json.dumps(stored["program"])}']
    for system in ("1900", "1904"):
        texts = (f"  {_json(code)}: {_json(found)}" for code, found in stored[system].items())
        lines.append(f' "{system}": {{\n' + ",\n".join(texts) + "\n }")
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main()
