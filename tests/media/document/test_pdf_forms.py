"""Forms of PDF files: each kind of field of ISO 32000-2, 12.7.5, and XFA forms."""

from __future__ import annotations

import pytest

from abstractcore.ports import Conversion
from tests.media.document.documents import converted, losses
from tests.media.document.test_pdf import written

LABEL = b"BT /F 9 Tf 9 50 Td (hello) Tj ET"
WIDGET = "/Type/Annot/Subtype/Widget/Rect[9 9 90 20]"
CHOICES = "/Opt[(red)[(g)(green)](blue)]"


def form_with(*fields: str, kids: tuple[str, ...] = ()) -> bytes:
    """A page with fields, and the widgets of the last one, if it has `kids`."""
    numbers = [f"{6 + index} 0 R" for index in range(len(fields))]
    widgets = [f"{6 + len(fields) + index} 0 R" for index in range(len(kids))]
    shown = (numbers[:-1] + widgets) if kids else numbers
    return written(
        LABEL,
        *fields,
        *kids,
        page=f"/Annots[{' '.join(shown)}]",
        catalog=f"/AcroForm<</Fields[{' '.join(numbers)}]>>",
    )


def value_of(field: str, kids: tuple[str, ...] = ()) -> tuple[str, dict[str, tuple[float, float | None]]]:
    conversion = converted(form_with(field, kids=kids), "form.pdf")
    return conversion.text.removeprefix("hello").strip(), losses(conversion)


@pytest.mark.parametrize(
    ("field", "text", "lost"),
    [
        ("/FT/Tx/T(City)/V(Paris)", "City: Paris", {}),
        ("/FT/Tx/T(City)", "City: ____", {}),
        ("/FT/Tx/T(c1)/TU(City of birth)/V(Paris)", "City of birth: Paris", {}),
        ("/FT/Tx/T(Remark)/Ff 4096/V(two\\nlines)", "Remark: two lines", {}),
        ("/FT/Tx/T(Rich)/Ff 33554432/V(plain)/RV(<body>rich</body>)", "Rich: plain", {}),
        ("/FT/Tx/T(Code)/Ff 8192/V(secret)", "Code: ____", {"passwords": (1, None)}),
        ("/FT/Btn/T(Agreed)/V/Yes/AS/Yes", "Agreed: [x]", {}),
        ("/FT/Btn/T(Agreed)/V/Off/AS/Off", "Agreed: [ ]", {}),
        ("/FT/Btn/T(Send)/Ff 65536", "", {}),
        ("/FT/Ch/T(Color)/Ff 131072/V(red)" + CHOICES, "Color: red", {}),
        ("/FT/Ch/T(Color)/Ff 131072/V(g)" + CHOICES, "Color: green", {}),
        ("/FT/Ch/T(Color)/Ff 393216/V(mauve)" + CHOICES, "Color: mauve", {}),  # typed into a combo box
        ("/FT/Ch/T(Color)/V(blue)" + CHOICES, "Color: blue", {}),
        ("/FT/Ch/T(Color)/Ff 2097152/V[(red)(blue)]" + CHOICES, "Color: red, blue", {}),
        ("/FT/Ch/T(Color)/Ff 2097152" + CHOICES, "Color: ____", {}),
        ("/FT/Sig/T(Signed)", "", {"signatures": (1, None)}),
        ("/FT/Tx/T(City)/F 2/V(Paris)", "", {"hidden form fields": (1, None)}),
        ("/FT/New/T(City)/V(Paris)", "", {"form fields": (1, None)}),
    ],
)
def test_kind_of_field(field: str, text: str, lost: dict[str, tuple[float, float | None]]):
    assert value_of(f"<<{field}{WIDGET}>>") == (text, lost)


def test_radio_buttons_of_one_field():
    kids = tuple(
        f"<</Parent 6 0 R/Type/Annot/Subtype/Widget/AS/{state}/Rect[9 {top} 19 {top + 9}]"
        f"/TU({name})/AP<</N<</{name} 4 0 R/Off 4 0 R>>>>>>"
        for name, state, top in (("post", "Off", 20), ("shop", "shop", 5))
    )
    assert value_of("<</FT/Btn/Ff 49152/T(Delivery)/V/shop/Kids[7 0 R 8 0 R]>>", kids) == (
        "Delivery: ( )\nDelivery: (x)",
        {},
    )


def test_field_with_several_widgets_shows_its_value_at_each():
    kids = tuple(f"<</Parent 6 0 R/Type/Annot/Subtype/Widget/Rect[9 {top} 90 {top + 9}]>>" for top in (20, 5))
    text, lost = value_of("<</FT/Tx/T(City)/V(Paris)/Kids[7 0 R 8 0 R]>>", kids)
    assert (text, lost) == ("City: Paris\nCity: Paris", {})


DATA = (
    '<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><order>'
    "<name>Ada  Miller</name><empty/>"
    "<row><item>lamp &amp; shade</item><count>2</count></row><row><item>rug</item></row>"
    '<note><body xmlns="http://www.w3.org/1999/xhtml"><p>Ring <b>twice</b></p></body></note>'
    "</order></xfa:data></xfa:datasets>"
)
VALUES = "[form data]\nname: Ada Miller\nrow.item: lamp & shade\nrow.count: 2\nrow.item: rug\nnote: Ring twice"


def xfa(data: str, *, is_dynamic: bool, field: str = "", is_one_packet: bool = False) -> Conversion:
    """A form that has its values in packets of XML, and maybe in a field of the page."""
    data = f"<xdp>{data}</xdp>" if is_one_packet else data
    content = written(
        LABEL,
        f"<</Length {len(data)}>>stream\n{data}\nendstream",
        f"<<{field}{WIDGET}>>",
        "<</Length 11>>stream\n<template/>\nendstream",
        page="/Annots[7 0 R]" if field else "",
        catalog=("/NeedsRendering true" if is_dynamic else "")
        + f"/AcroForm<</Fields[{'7 0 R' if field else ''}]"
        + ("/XFA 6 0 R>>" if is_one_packet else "/XFA[(template) 8 0 R (datasets) 6 0 R]>>"),
    )
    return converted(content, "form.pdf")


@pytest.mark.parametrize("is_one_packet", [False, True])
def test_values_of_a_dynamic_xfa_form_are_read_and_its_pages_are_lost(is_one_packet: bool):
    conversion = xfa(DATA, is_dynamic=True, is_one_packet=is_one_packet)
    assert conversion.text == f"hello\n\n{VALUES}"
    (lost,) = conversion.lost
    assert (lost.what, lost.count, lost.places) == ("XFA forms", 1, ("its pages, which one program draws from data",))


def test_static_xfa_form_has_its_values_once():
    both = xfa(DATA, is_dynamic=False, field="/FT/Tx/T(name)/V(Ada Miller)")
    assert (both.text, losses(both)) == ("hello\nname: Ada Miller", {})
    only_data = xfa(DATA, is_dynamic=False, field="/FT/Tx/T(name)")
    assert (only_data.text, losses(only_data)) == (f"hello\nname: ____\n\n{VALUES}", {})


@pytest.mark.parametrize("data", ["<datasets><data>", "<!DOCTYPE a><datasets/>", "", "<datasets><data/></datasets>"])
def test_xfa_form_without_values_is_lost(data: str):
    conversion = xfa(data, is_dynamic=False)
    assert (conversion.text, losses(conversion)) == ("hello", {"XFA forms": (1, None)})
