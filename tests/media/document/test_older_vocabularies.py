"""What readers of CSV, notebooks, RTF, XLS and MSG say of each kind of content that others list for their format."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
import xlrd.biffh

from abstractcore.errors import AbstractCoreError
from abstractcore_media.document.vocabularies import Treatment
from tests.media.document.documents import DOCUMENTS, converted, losses
from tests.media.document.vocabulary_lists import CANARY, LISTS, declared_twice, undeclared
from tests.media.format_lists import vocabularies

FORMATS = vocabularies()


def listed(name: str) -> list[str]:
    lines = (LISTS / name).read_text(encoding="utf-8").splitlines()
    return [kind for line in lines if not line.startswith("# ") for kind in line.split()]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_declares_what_its_reader_does(name: str):
    assert FORMATS[name].source
    assert FORMATS[name].read


def test_each_destination_of_rtf_is_declared():
    assert undeclared(FORMATS["rtf"], listed("rtf.txt")) == []


def test_each_kind_of_notebooks_is_declared():
    assert undeclared(FORMATS["notebook"], listed("notebook.txt")) == []


def test_each_record_of_workbooks_is_declared():
    """By the names that xlrd has for records; those of workbooks before Excel 97 have their version as an ending."""
    names = [name for name in xlrd.biffh.biff_rec_name_dict.values() if "_B" not in name and "mythical" not in name]
    assert undeclared(FORMATS["xls"], [name for name in names if not name.endswith("5+")]) == []


def test_each_property_of_mails_is_declared():
    assert undeclared(FORMATS["msg"], listed("outlook.txt")) == []
    assert declared_twice(FORMATS["msg"]) == []


def notebook(*cells: dict[str, object]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": CANARY},
    {"output_type": "error", "ename": CANARY, "evalue": "", "traceback": []},
    {"output_type": "execute_result", "data": {"text/latex": f"${CANARY}$"}},
    {"output_type": "display_data", "data": {"text/html": CANARY}},
    {"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": {}}},
    {"output_type": "new_type", "content": CANARY},
]


@pytest.mark.parametrize("output", OUTPUTS)
def test_each_output_of_a_notebook_is_read_or_counted(output: dict[str, object]):
    found = converted(notebook({"cell_type": "code", "source": "x", "outputs": [output]}), "a.ipynb")
    assert (CANARY in found.text) != (losses(found) == {"outputs": (1, None)})


def test_attachment_of_a_cell_that_is_no_picture_is_counted():
    cell = {"cell_type": "markdown", "source": "x", "attachments": {"a.bin": {"application/x-new": "AA=="}}}
    assert losses(converted(notebook(cell), "a.ipynb")) == {"attachments of cells": (1, None)}


@pytest.mark.parametrize(
    "group", [r"{\object{\*\objdata 00ff}}", r"{\*\do{\dptxbxtext Canary4711}}", r"{\*\formfield{\fftype1\ffres1}}"]
)
def test_destinations_that_are_not_read_are_counted(group: str):
    found = converted(("{\\rtf1 Text " + group + "\\par}").encode(), "a.rtf")
    name = next(each for each in ("objdata", "dptxbxtext", "formfield") if each in group)
    treatment, what = FORMATS["rtf"].treatment(name)
    assert treatment is Treatment.LOST
    assert losses(found) == {what: (1, None)}


def test_what_a_workbook_has_beside_its_cells_is_read_or_counted():
    """As LibreOffice writes a chart, a picture, a header, a list of choices and a check of what is typed."""
    found = converted(DOCUMENTS / "objects.xls")
    assert [(each.what, each.count, each.places) for each in found.lost] == [
        ("charts", 1, ("sheet Größe",)),
        ("pictures and embedded objects", 1, ("sheet Second",)),
        ("lists of choices and input messages of cells", 2, ("sheet Second",)),
    ]
    assert "[header for printing: Confidential]" in found.text
    assert "| x [comment: A note] |" in found.text


@pytest.mark.parametrize("changed", [b"\x5d\x00", b"\xb2\x01", b"\x14\x00", b"\x85\x00"])
def test_records_of_objects_may_be_damaged(changed: bytes):
    data = (DOCUMENTS / "objects.xls").read_bytes()
    parts = data.split(changed)
    for place in range(1, len(parts)):
        with suppress(AbstractCoreError):
            converted(
                changed.join(parts[:place]) + changed + b"\xff\xff\xff" + changed.join(parts[place:])[3:], "a.xls"
            )


def mail_with(**tags: str) -> bytes:
    """A mail whose properties have other numbers."""
    data = (DOCUMENTS / "mail.msg").read_bytes()
    for old, new in tags.items():
        before, after = (f"__substg1.0_{each}001F".encode("utf-16-le") for each in (old[1:], new))
        assert before in data
        data = data.replace(before, after)
    return data


@pytest.mark.parametrize(
    ("tag", "expected"), [("3A08", {"details of contacts": (1, None)}), ("0070", {}), ("7FFF", {})]
)
def test_properties_of_mails_that_are_not_read_are_counted(tag: str, expected: dict[str, object]):
    assert losses(converted(mail_with(_0E04=tag), "mail.msg")) == expected


def test_hidden_receivers_of_a_mail_are_read():
    assert "Bcc: crocodile@neverland.com" in converted(mail_with(_0E02="7FFE", _0E04="0E02"), "mail.msg").text
