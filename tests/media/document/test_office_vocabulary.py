"""Every element of Office Open XML is declared, and what it may hold is in the text, or is counted."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest

from abstractcore_media.document.office.vocabulary import OFFICE
from abstractcore_media.document.vocabularies import Treatment
from tests.media.document.documents import converted, losses
from tests.media.document.vocabulary_lists import CANARY, TEXT, ElementList, declared_twice, is_accounted, undeclared

ELEMENTS = ElementList.read("office.txt")
ELEMENTS = ElementList({**ELEMENTS.children, "a:graphicData": frozenset({"a:tbl", "pic:pic"})})
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ADDRESSES = {prefix: address for address, prefix in reversed(OFFICE.namespaces.items())} | {"r": _TYPES}
_NAMES = " ".join(f'xmlns:{prefix}="{address}"' for prefix, address in _ADDRESSES.items())
_BESIDES = {
    "w:document": "<w:body><w:p><w:r><w:t>besides</w:t></w:r></w:p></w:body>",
    "w:hdr": "<w:p><w:r><w:t>besides</w:t></w:r></w:p>",
    "p:sld": "",
}
_HOLDERS = """
    w:p w:r a:p a:r a:t w:t m:t m:r c:v x:v x:t a:blip w:drawing w:pict w:object v:textbox v:imagedata w:txbxContent
    #text"""
_NO_CONTENT = """
    a:blipFill a:buBlip a:header a:tableStyleId c:evenFooter c:evenHeader c:f c:firstFooter c:firstHeader c:formatCode
    c:name c:oddFooter c:oddHeader c:separator c:txPr cdr:blipFill cdr:txBody cdr:x cdr:y o:FieldCodes o:LinkType
    o:LockedField o:shapedefaults p:attrName v:shapetype w:background w:delInstrText w:docPartBody w:fldData w:instrText
    w:numPicBullet wp:align wp:posOffset wp:txbxContent x:Schema x:author x:calculatedColumnFormula x:cell x:definedName
    x:f x:formula x:formula1 x:formula2 x:mdx x:nc x:oc x:oldFormula x:securityDescriptor x:stp x:totalsRowFormula x:tp
    x:val xdr:col xdr:colOff xdr:row xdr:rowOff"""
"""Elements that may hold a text or picture, which is no content: settings, places, formulas, copies, styles."""


def package(kind: str, body: str) -> tuple[bytes, str]:
    """A file whose main part, slide or header has these elements, and its name."""
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        main, name = ("ppt/presentation.xml", "a.pptx") if kind[0] == "p" else ("word/document.xml", "a.docx")
        folder = main.partition("/")[0]
        _relation(archive, "_rels/.rels", "officeDocument", main)
        if kind == "w:document":
            archive.writestr(main, f"<{kind} {_NAMES}>{_BESIDES[kind]}{body}</{kind}>")
            return _finished(archive, file), name
        inside = '<p:sldIdLst><p:sldId r:id="rId1"/></p:sldIdLst>' if kind == "p:sld" else _BESIDES["w:document"]
        root = "p:presentation" if kind == "p:sld" else "w:document"
        archive.writestr(main, f"<{root} {_NAMES}>{inside}</{root}>")
        _relation(archive, f"{main.replace('/', '/_rels/')}.rels", "slide" if kind == "p:sld" else "header", "part.xml")
        archive.writestr(f"{folder}/part.xml", f"<{kind} {_NAMES}>{_BESIDES[kind]}{body}</{kind}>")
    return file.getvalue(), name


def _finished(archive: ZipFile, file: BytesIO) -> bytes:
    archive.close()
    return file.getvalue()


def _relation(archive: ZipFile, path: str, kind: str, target: str) -> None:
    archive.writestr(
        path,
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{_TYPES}/{kind}" Target="{target}"/></Relationships>',
    )


def test_every_element_of_the_format_is_declared_once():
    assert undeclared(OFFICE, ELEMENTS.children) == []
    assert declared_twice(OFFICE) == []


def test_what_may_hold_content_is_no_property():
    kinds = {
        kind
        for kind, inside in ELEMENTS.children.items()
        if inside.intersection(_HOLDERS.split())
        and OFFICE.treatment(kind)[0] is Treatment.PROPERTY
        and not kind.startswith("xvml:")
    }
    assert sorted(kinds) == sorted(_NO_CONTENT.split())


@pytest.mark.parametrize("root", sorted(_BESIDES))
def test_text_in_any_element_is_in_the_output_or_counted(root: str):
    assert [way for kind in ELEMENTS.children if (way := unaccounted(kind, root))] == []


def unaccounted(kind: str, root: str) -> str:
    """The way to an element in which a text gets lost, "" if it does not."""
    inside = ELEMENTS.children[kind]
    run = f"<{kind[0]}:r><{kind[0]}:t>{CANARY}</{kind[0]}:t></{kind[0]}:r>"
    if kind[0] == "a" and root[0] == "w":
        return ""  # drawings in a DOCX have paragraphs of its own
    texts = {
        "w:p": f"<w:p><w:r><w:t>{CANARY}</w:t></w:r></w:p>",
        "w:r": run,
        "a:p": f"<a:p><a:r><a:t>{CANARY}</a:t></a:r></a:p>",
        "a:r": run,
        **{each: f"<{each}>{CANARY}</{each}>" for each in ("w:t", "a:t", "m:t")},
    }
    own = CANARY if TEXT in inside and kind.endswith(("t", "Text")) else ""
    text = next((text for child, text in texts.items() if child in inside), own)
    way = ELEMENTS.path_to(kind, root, OFFICE)
    if not text or len(way) < 2 or OFFICE.treatment(kind)[0] is Treatment.PROPERTY:
        return ""
    body = "".join(f"<{each}>" for each in way[1:]) + text + "".join(f"</{each}>" for each in reversed(way[1:]))
    conversion = converted(*package(root, body))
    return "" if is_accounted(conversion, kind, OFFICE) else " ".join(way)


def test_equations_between_paragraphs_are_read():
    equation = "<m:oMathPara><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath></m:oMathPara>"
    assert converted(*package("w:document", f"<w:body>{equation}</w:body>")).text == "besides\n\n$$x$$"


def test_losses_are_counted_where_they_stand():
    body = '<w:body><w:p><w:r><w:control/><w:pgNum/></w:r></w:p><w:altChunk r:id="rId9"/></w:body>'
    conversion = converted(*package("w:document", body))
    assert [(loss.count, loss.what, loss.places) for loss in conversion.lost] == [
        (1, "files that a program inserts", ()),
        (1, "form controls", ("paragraph 2",)),
        (1, "page numbers and dates of today", ("paragraph 2",)),
    ]
    shape = "<p:sp><p:txBody><a:p><a:r><a:t>words</a:t></a:r></a:p></p:txBody></p:sp>"
    tree = f"<p:cSld><p:spTree>{shape}<p:contentPart/></p:spTree></p:cSld>"
    assert [loss.places for loss in converted(*package("p:sld", tree)).lost] == [("slide 1",)]


def test_text_boxes_of_headers_are_read_and_missing_pictures_counted():
    box = "<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    box += '</v:textbox><v:textpath string="DRAFT"/></v:shape></w:pict></w:r></w:p>'
    picture = (
        "<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData><a:blip r:embed='rId9'/></a:graphicData></a:graphic>"
    )
    conversion = converted(*package("w:hdr", f"{box}{picture}</wp:inline></w:drawing></w:r></w:p>"))
    assert "[header: boxed DRAFT]" in conversion.text
    assert losses(conversion) == {"pictures": (1, 1)}


def test_strict_files_are_read_as_others():
    data, name = package("w:document", "<w:body><w:p><w:r><w:control/></w:r></w:p></w:body>")
    file = BytesIO()
    with ZipFile(BytesIO(data)) as archive, ZipFile(file, "w") as strict:
        for member in archive.namelist():
            text = archive.read(member).decode()
            text = text.replace("http://schemas.openxmlformats.org/wordprocessingml/2006/main",
                                "http://purl.oclc.org/ooxml/wordprocessingml/main")  # fmt: skip
            strict.writestr(member, text)
    conversion = converted(file.getvalue(), name)
    assert conversion.text == "besides"
    assert losses(conversion) == {"form controls": (1, None)}
