"""Plain files, in many encodings and delimiters, notebooks, and archives, by the standard library."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

from .corpus import Family
from .facts import each, in_order, says, table
from .web import written

PLAIN = Family("the standard library")
NOTE = "Ausfuhr nach Österreich: 1.204 t für 12 €, „brutto“.\nDie nächste Größe heißt Übermaß.\n"
WORDS = (
    says(
        'Ausfuhr nach Österreich: 1.204 t für 12 €, „brutto".', "Ausfuhr nach Österreich: 1.204 t für 12 €, „brutto“."
    ),
    says("Die nächste Größe heißt Übermaß."),
)

for name, encoding in (
    ("utf8.txt", "utf-8"),
    ("utf8_bom.txt", "utf-8-sig"),
    ("utf16_bom.txt", "utf-16"),
    ("windows1252.txt", "cp1252"),
):
    PLAIN.file(name, *WORDS)(written(NOTE, encoding))
PLAIN.file("utf16_without_bom.txt", *WORDS)(written(NOTE, "utf-16-le"))
PLAIN.file("cyrillic.txt", each("Отчёт за первый квартал", "Выручка выросла на 12 процентов."))(
    written("Отчёт за первый квартал\nВыручка выросла на 12 процентов. Расходы остались прежними.\n", "cp1251")
)
PLAIN.file("gbk.txt", each("第一季度的销售报告", "收入增长了百分之十二"))(
    written("第一季度的销售报告\n收入增长了百分之十二，成本没有变化。\n公司在北京和上海有办公室。\n", "gb18030")
)
PLAIN.file("shift_jis.txt", each("第一四半期の売上報告", "売上は三割増えた"))(
    written("第一四半期の売上報告\n売上は三割増えた。東京と大阪に事務所があります。\n", "cp932")
)

TOWNS = ("Town", "People", "Note")
LISTED = (("Köln", "1087353", "on the Rhine, left"), ("Ulm", "", "Danube"), ("Bern", "134591", ""))


def delimited(delimiter: str, encoding: str = "utf-8", first: str = ""):
    """A maker of a table with a delimiter."""

    def make(path: Path) -> None:
        text = io.StringIO(first, newline="")
        text.seek(0, io.SEEK_END)
        csv.writer(text, delimiter=delimiter).writerows((TOWNS, *LISTED))
        path.write_bytes(text.getvalue().encode(encoding))

    return make


PLAIN.file("comma.csv", table(TOWNS, *LISTED))(delimited(","))
PLAIN.file("semicolon.csv", table(TOWNS, *LISTED))(delimited(";"))
PLAIN.file("semicolon_1252.csv", table(TOWNS, *LISTED))(delimited(";", "cp1252"))
PLAIN.file("named_delimiter.csv", table(TOWNS, *LISTED))(delimited(";", first="sep=;\r\n"))
PLAIN.file("utf16.csv", table(TOWNS, *LISTED))(delimited("\t", "utf-16"))
PLAIN.file("tabs.tsv", table(TOWNS, *LISTED))(delimited("\t"))
PLAIN.file(
    "quoted.csv",
    table(("Key", "Text"), ("a", "two lines"), ("b", 'a "word", and a pipe | too'), ("c", "0012")),
)(written('Key,Text\r\na,"two\nlines"\r\nb,"a ""word"", and a pipe | too"\r\nc,0012\r\n'))


@PLAIN.file(
    "notebook.ipynb",
    each("Model of the tide", "height = 3.2", "the tide is 3.2 m", "ZeroDivisionError: division by zero"),
    in_order("Model of the tide", "height = 3.2", "the tide is 3.2 m", "1 / 0"),
    table(("day", "high"), ("Mon", "4.1"), ("Tue", "4.3")),
)
def notebook(path: Path) -> None:
    rows = "<tr><td>Mon</td><td>4.1</td></tr><tr><td>Tue</td><td>4.3</td></tr>"
    frame = f"<table><tr><th>day</th><th>high</th></tr>{rows}</table>"
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Model of the tide\n"]},
        _code(
            "height = 3.2\nprint(f'the tide is {height} m')",
            {"output_type": "stream", "name": "stdout", "text": ["the tide is 3.2 m\n"]},
        ),
        _code(
            "table",
            {
                "output_type": "execute_result",
                "execution_count": 2,
                "metadata": {},
                "data": {"text/html": frame, "text/plain": "   day  high\n0  Mon   4.1\n1  Tue   4.3"},
            },
        ),
        _code(
            "1 / 0",
            {
                "output_type": "error",
                "ename": "ZeroDivisionError",
                "evalue": "division by zero",
                "traceback": ["ZeroDivisionError: division by zero"],
            },
        ),
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def _code(source: str, output: dict[str, object]) -> dict[str, object]:
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": source, "outputs": [output]}


@PLAIN.file(
    "pack.zip",
    each("towns.csv", "read.txt", "deep/page.html", "The key is under the mat.", "Deep page"),
    table(TOWNS, *LISTED),
)
def pack(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        rows = io.StringIO()
        csv.writer(rows).writerows((TOWNS, *LISTED))
        archive.writestr("towns.csv", rows.getvalue())
        archive.writestr("read.txt", "The key is under the mat.")
        archive.writestr("deep/page.html", "<h1>Deep page</h1>")


@PLAIN.file("gbk_names.zip", each("报告.txt", "Sales rose."), source="the standard library, names in GBK")
def gbk_names(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("REPORT12.txt", "Sales rose.")
    name = "报告.txt".encode("gbk")
    data = path.read_bytes()
    path.write_bytes(_renamed(data, b"REPORT12.txt", name))


def _renamed(data: bytes, old: bytes, new: bytes) -> bytes:
    """An archive of one stored file with a name of another length."""
    head = data.index(old)
    local = (
        data[:26]
        + len(new).to_bytes(2, "little")
        + data[28:head]
        + new
        + data[head + len(old) : data.index(b"PK\x01\x02")]
    )
    central = data[data.index(b"PK\x01\x02") : data.index(b"PK\x05\x06")]
    central = central[:28] + len(new).to_bytes(2, "little") + central[30:].replace(old, new)
    end = data[data.index(b"PK\x05\x06") :]
    end = end[:12] + len(central).to_bytes(4, "little") + len(local).to_bytes(4, "little") + end[20:]
    return local + central + end


@PLAIN.file("pack.tar.gz", each("a/read.txt", "The key is under the mat.", "b/other.md", "Second file"))
def tarball(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in (("a/read.txt", "The key is under the mat."), ("b/other.md", "# Second file")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


PLAIN.file("log.txt.gz", each("2025-01-02 12:00 started", "pump 3 failed"))(
    lambda path: path.write_bytes(gzip.compress(b"2025-01-02 12:00 started\n2025-01-02 12:04 pump 3 failed\n", mtime=0))
)
PLAIN.file(
    "words.srt",
    each("Good morning.", "The boat leaves at nine."),
    in_order("Good morning.", "The boat leaves at nine."),
)(
    written(
        "1\n00:00:01,000 --> 00:00:02,500\nGood morning.\n\n2\n00:00:03,000 --> 00:00:05,000\nThe boat leaves "
        "at nine.\n"
    )
)
PLAIN.file("notes.md", each("Plan", "buy rope", "sell nets"), table(("a", "b"), ("1", "2")))(
    written("# Plan\n\n- buy rope\n- sell nets\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
)
PLAIN.file("settings.toml", each("port = 8080", 'name = "harbour"'))(written('port = 8080\nname = "harbour"\n'))
PLAIN.file("settings.yaml", each("port: 8080", "name: harbour"))(written("port: 8080\nname: harbour\n"))
PLAIN.file("program.rs", each("fn main()", "println!"))(written('fn main() {\n    println!("hello");\n}\n'))
