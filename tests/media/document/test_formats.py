"""OpenDocument, old Office formats, RTF, HTML, EPUB, mails, tables, notebooks and archives."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from base64 import b64encode
from dataclasses import replace
from email.message import EmailMessage

import pytest

from abstractcore.errors import EncryptedFileError, MediaError
from abstractcore.ports import Conversion
from abstractcore.schema import MediaAnchor, MediaLoss
from abstractcore_media import media_type_of
from tests.media.document.documents import DOCUMENTS, converted, losses, places
from tests.media.document.test_office import SALES
from tests.media.parts import FILES, NO_MODELS

PNG = (FILES / "small.png").read_bytes()
READS = replace(NO_MODELS, to_text=lambda part: Conversion(part.blob.read().decode("utf-8", "replace"), "text"))


def zipped(members: dict[str, bytes | str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("name", ["harvest.odt", "harvest.doc", "harvest.epub"])
def test_texts_keep_order_lists_tables_and_pictures(name: str):
    conversion = converted(DOCUMENTS / name)
    expected = [
        "Harvest report",
        "Fruit",
        "The orchard gave 41 tonnes of apples.",
        "first item",
        "second item",
        "step one",
        "| Kind | Tonnes | Price |\n| --- | --- | --- |\n| Apple | 41 | 3\\|50 |\n| Pear | 17 | 4.10 |",
        "Before the picture.",
        "[picture: ",
        "After the picture.",
        "| Merged head |  |",
        "nested cell",
    ]
    found = [conversion.text.find(each) for each in expected]
    assert -1 not in found
    assert found == sorted(found)
    assert losses(conversion) == {"pictures": (1, 1)}
    assert [paragraph for _, paragraph in places(conversion, "paragraph") if paragraph] != []


def test_odt_keeps_headings_comments_and_edges():
    text = converted(DOCUMENTS / "harvest.odt").text
    assert text.startswith("[header: Confidential header]\n\n# Harvest report\n\n# Fruit")
    assert "[comment by Ann: Check this figure]" in text
    assert "- second item\n1. step one" in text
    assert "\n## Picture\n" in text
    assert text.endswith("[footer: Footer of farm]")


def test_ods_and_xls_show_the_same_cells_as_xlsx():
    cells = SALES.format(50, 75, 100).partition("[picture")[0].strip()
    ods = converted(DOCUMENTS / "sales.ods")
    assert ods.text.startswith(cells)
    assert losses(ods) == {"pictures": (1, 1)}
    xls = converted(DOCUMENTS / "sales.xls")
    assert xls.text == cells
    for conversion in (ods, xls):
        assert ("| hidden value |", "Secret", "B3") in places(conversion, "sheet", "cell")


def test_slides_of_odp_are_pages():
    conversion = converted(DOCUMENTS / "slides.odp")
    assert (
        "[slide 1]\n\n## Quarterly results\n\n- Sales rose\n- Costs fell\n\n[notes]\nSpeak slowly here."
        in conversion.text
    )
    assert "| North | 12 |" in conversion.text
    assert "| Q2 | 21.4 |" in conversion.text
    assert "[slide 3, hidden]" in conversion.text
    assert {page for _, page in places(conversion, "page")} == {1, 2, 3}


def test_rtf_keeps_lists_and_tables():
    text = converted(DOCUMENTS / "note.rtf").text
    assert text == "# Locked\n\nThe code is 4711.\n\n- first\n\n| Kind | Tonnes |\n| --- | --- |\n| Apple | 41 |"


PAGE = f"""<!doctype html><html><head><title>Our shop</title><script>no()</script></head><body><!-- no -->
<h2>Opening   hours</h2><p>We are <b>open</b>
every&nbsp;day.<p hidden>no</p>
<table><tr><th>Day<th colspan=2>Hours<tr><td>Sat<td>10<td>15</table>
<ol start=3><li>three<ul><li>inner</ul><li>four</ol><pre>a  b
  c</pre><p>See <a href="https://example.org/map">the map</a><br>or ask.
<img src="data:image/png;base64,{b64encode(PNG).decode()}" alt="a cat"><img src="https://example.org/x.png"></body>"""


def test_html_becomes_markdown():
    conversion = converted(PAGE.encode(), "page.html")
    assert conversion.text == (
        "[title: Our shop]\n\n## Opening hours\n\nWe are open every day.\n\n"
        "| Day | Hours |  |\n| --- | --- | --- |\n| Sat | 10 | 15 |\n\n"
        "3. three\n  - inner\n4. four\n\n```\na  b\n  c\n```\n\nSee [the map](https://example.org/map)\nor ask.\n\n"
        "[picture: picture in the page (a cat), not shown here]"
    )
    assert conversion.lost == (
        MediaLoss("pictures", 2, 2, ("picture in the page", "https://example.org/x.png")),
        MediaLoss("hidden elements", 1, None, ("paragraph 3",)),
    )
    assert ("| Sat | 10 | 15 |", 4) in places(conversion, "paragraph")


def test_html_is_sent_as_it_is_by_the_fallback_source():
    conversion = converted(PAGE.encode(), "page.html", replace(NO_MODELS, fallbacks=("source",)))
    assert (conversion.text, conversion.fallback) == (PAGE, "source")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<meta charset=latin1><p>café".encode("latin-1"), "café"),
        ("<p>café “quoted”".encode("cp1252"), "café “quoted”"),
        ("<p>café</p>".encode("utf-16"), "café"),
        (b"<p>a<p>b<table><tr><td>c", "a\n\nb\n\nc"),
    ],
)
def test_encodings_and_open_tags_of_html(page: bytes, text: str):
    assert converted(page, "page.html").text == text


def test_chapters_that_a_book_lacks_are_counted_and_each_one_is_read_once():
    package = """<package><manifest><item id="1" href="ch1.xhtml"/><item id="2" href="ch2.xhtml"/></manifest>
    <spine><itemref idref="1"/><itemref idref="1"/><itemref idref="2"/><itemref idref="3"/></spine></package>"""
    members: dict[str, bytes | str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b/p.opf"/></rootfiles></container>',
        "b/p.opf": package,
        "b/ch1.xhtml": "<html><head><title>ch1.xhtml</title></head><body><p>Wet.</p></body></html>",
    }
    conversion = converted(zipped(members), "rain.epub")
    assert conversion.text == "Wet."
    (loss,) = conversion.lost
    assert (loss.what, loss.count, loss.places) == ("chapters", 2, ("b/p.opf", "b/ch2.xhtml"))


def test_chapter_that_a_book_names_by_several_places_in_it_is_read_once():
    package = (
        '<package><manifest><item id="a" href="c.xhtml#a"/><item id="b" href="c.xhtml#b"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    members = {"META-INF/container.xml": container, "p.opf": package, "c.xhtml": "<p id='a'>one<p id='b'>two"}
    assert converted(zipped(members), "book.epub").text == "one\n\ntwo"


def test_chapters_of_an_epub_are_read_in_the_order_of_the_book():
    container = '<container><rootfiles><rootfile full-path="b/p.opf"/></rootfiles></container>'
    package = (
        "<package><metadata><title>The Rain</title></metadata><manifest>"
        '<item id="2" href="two.xhtml"/><item id="1" href="one.xhtml"/></manifest>'
        '<spine><itemref idref="1"/><itemref idref="2"/></spine></package>'
    )
    members: dict[str, bytes | str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "b/p.opf": package,
        "b/two.xhtml": "<html><body><h1>Two</h1><p>Dry.</p></body></html>",
        "b/one.xhtml": '<html><body><h1>One</h1><p>Wet.</p><img src="../i/cat.png"/></body></html>',
        "i/cat.png": PNG,
    }
    conversion = converted(zipped(members), "rain.epub")
    assert conversion.text.startswith(
        "[title: The Rain]\n\n# One\n\nWet.\n\n[picture: i/cat.png, not shown here]\n\n# Two"
    )
    assert ("Dry.", "b/two.xhtml", 2) in places(conversion, "member", "paragraph")
    protection = '<encryption><CipherReference URI="b/one.xhtml"/></encryption>'
    with pytest.raises(EncryptedFileError, match="protected against copying"):
        converted(zipped(members | {"META-INF/encryption.xml": protection}), "rain.epub")


def mail(**parts: object) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ann <ann@example.org>", "bob@example.org", "Café plans"
    message["Message-ID"] = "<1@example.org>"
    message.set_content("Hello Bob,\n\nsee the files.\n")
    return message


def test_mail_has_headers_text_and_attachments():
    message = mail()
    message.add_attachment(b"kind,tonnes\napple,41\n", "text", "csv", filename="fruit.csv")
    message.add_attachment(b"\0\1", "application", "octet-stream", filename="unknown.bin")
    conversion = converted(message.as_bytes(), "mail.eml", READS)
    assert conversion.text == (
        "From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: Café plans\n\nHello Bob,\n\nsee the files.\n\n"
        "[file: fruit.csv]\nkind,tonnes\napple,41\n[end of file]\n\n[file: unknown.bin]\n\0\1\n[end of file]"
    ).replace("\0\1", "\0\1")
    assert ("see the files.", 2, None) in places(conversion, "paragraph", "member")


def test_attachment_that_nothing_reads_is_lost():
    message = mail()
    message.add_attachment(PNG, "image", "png", filename="cat.png")
    message.add_attachment(b"\0\1", "application", "octet-stream", filename="unknown.bin")
    conversion = converted(message.as_bytes(), "mail.eml")
    assert losses(conversion) == {"pictures": (1, 1), "files inside": (1, None)}
    assert "[picture: cat.png, not shown here]" in conversion.text


def test_picture_in_the_html_of_a_mail_stands_in_place():
    message = mail()
    message.set_content("<p>before<img src='cid:cat'>after</p>", "html")
    message.add_related(PNG, "image", "png", cid="<cat>", filename="cat.png")
    text = converted(message.as_bytes(), "mail.eml").text
    assert text.endswith("before\n\n[picture: cat.png, not shown here]\n\nafter")


def test_mail_without_a_name_is_recognised():
    assert converted(mail().as_bytes(), "").text.startswith("From: Ann")


def test_mail_of_outlook():
    text = converted(DOCUMENTS / "mail.msg").text
    assert text.startswith("From: peterpan@neverland.com <peterpan@neverland.com>\nTo: crocodile@neverland.com\n")
    assert text.endswith("Subject: This is the subject\n\nThis is a message")


@pytest.mark.parametrize(
    ("content", "name", "header"),
    [
        ('name,note\n"Ann, B",x|y\n', "a.csv", "| name | note |"),
        ("name;note\nAnn;1,5\n", "a.csv", "| name | note |"),
        ("sep=;\r\nname;note\r\nAnn;1,5\r\n", "a.csv", "| name | note |"),
        ("sep=^\nname^note\n1,5^2,5\n", "a.csv", "| name | note |"),
        ("name,note\nAnn,yes\n".encode("utf-16-le"), "a.csv", "| name | note |"),
        ("name,note\nAnn,who is here today\0\n", "a.csv", "| name | note |"),
        ("name\tnote\nAnn\tx y\n", "a.tsv", "| name | note |"),
        ("name,note\nÉmile,é\n".encode("cp1252"), "a.csv", "| name | note |"),
    ],
)
def test_delimited_files_are_tables(content: str | bytes, name: str, header: str):
    conversion = converted(content.encode() if isinstance(content, str) else content, name)
    assert conversion.text.splitlines()[:2] == [header, "| --- | --- |"]
    assert places(conversion, "cell")[1][1] == "A2:B2"


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.ipynb"])
def test_a_guessed_encoding_is_a_warning(name: str):
    content = json.dumps({"cells": [{"cell_type": "markdown", "source": "Émile, é"}]}, ensure_ascii=False)
    conversion = converted((content if "ipynb" in name else "name,note\nÉmile,é\n").encode("cp1252"), name)
    assert [(warning.code, warning.sent) for warning in conversion.warnings] == [("text_encoding", "cp1252")]


def test_long_csv_counts_the_rows_that_are_left_out():
    content = "".join(f"row {number},value of {number}\n" for number in range(100_000)).encode()
    conversion = converted(content, "long.csv")
    shown = conversion.text.count("| row ")
    assert losses(conversion) == {"rows": (100_000 - shown, 100_000)}


def test_notebook_shows_cells_and_outputs():
    notebook = {
        "nbformat": 4,
        "metadata": {"kernelspec": {"language": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Rain\n", "by month"]},
            {
                "cell_type": "code",
                "source": "print(41)",
                "outputs": [
                    {"output_type": "stream", "text": ["41\n"]},
                    {"output_type": "display_data", "data": {"image/png": b64encode(PNG).decode(), "text/plain": "x"}},
                    {"output_type": "error", "ename": "ValueError", "evalue": "no"},
                ],
            },
        ],
    }
    conversion = converted(json.dumps(notebook).encode(), "rain.ipynb")
    assert conversion.text == (
        "# Rain\nby month\n\n```python\nprint(41)\n```\n\n```output\n41\n```\n\n"
        "[picture: output of cell 2, not shown here]\n\n```error\nValueError: no\n```"
    )
    assert places(conversion, "paragraph")[0] == ("# Rain\nby month", 1)


def test_broken_notebook_is_sent_as_it_is():
    conversion = converted(b'{"cells": [', "x.ipynb", replace(NO_MODELS, fallbacks=("text", "source")))
    assert (conversion.text, conversion.fallback) == ('{"cells": [', "source")


def test_small_archive_is_listed_and_read():
    conversion = converted(zipped({"a/notes.txt": "It rained.", "b.txt": "It did not."}), "x.zip", READS)
    assert conversion.text == (
        "| file | bytes |\n| --- | --- |\n| a/notes.txt | 10 |\n| b.txt | 11 |\n\n"
        "[file: a/notes.txt]\nIt rained.\n[end of file]\n\n[file: b.txt]\nIt did not.\n[end of file]"
    )
    assert conversion.lost == ()
    assert ("It rained.", "a/notes.txt") in [
        (text.partition("\n")[2].rpartition("\n")[0], member) for text, member in places(conversion, "member")
    ]


def test_files_of_an_archive_whose_names_differ_in_case_are_each_read():
    conversion = converted(zipped({"README": "It rained.", "readme": "It did not."}), "x.zip", READS)
    assert "[file: README]\nIt rained." in conversion.text
    assert "[file: readme]\nIt did not." in conversion.text


def test_compressed_tar_is_listed():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        info = tarfile.TarInfo("notes.txt")
        info.size = 10
        archive.addfile(info, io.BytesIO(b"It rained."))
    conversion = converted(file.getvalue(), "x.tar.gz", READS)
    assert "| notes.txt | 10 |" in conversion.text
    assert "It rained." in conversion.text


def test_large_archive_is_listed_only():
    conversion = converted(zipped({f"{number}.txt": "x" for number in range(60)}), "x.zip", READS)
    assert "| 59.txt | 1 |" in conversion.text
    assert losses(conversion) == {"files inside": (60, 60)}


def test_one_compressed_file_is_read():
    assert "It rained." in converted(gzip.compress(b"It rained."), "notes.txt.gz", READS).text


def test_places_inside_an_inner_file_are_kept():
    inner = replace(
        NO_MODELS, to_text=lambda part: Conversion("[page 1]\nwords", "text", anchors=(MediaAnchor(9, 14, page=1),))
    )
    conversion = converted(zipped({"a.txt": "x"}), "x.zip", inner)
    assert ("words", 1, "a.txt") in places(conversion, "page", "member")


def test_zip_without_content_is_refused():
    with pytest.raises(MediaError, match=r"x.docx is a corrupt Word document: its ZIP archive is damaged"):
        converted((DOCUMENTS / "harvest.docx").read_bytes()[:9000], "x.docx")


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("第一章 销售报告和计划.txt", "gb18030"),
        ("売上報告と今後の予定について.txt", "cp932"),
        ("銷售報告和計劃.txt", "big5"),
        ("판매보고서.txt", "cp949"),
        ("Отчёт за май.txt", "cp866"),
        ("Отчёт за май.txt", "cp1251"),
        ("éléments généraux.txt", "cp437"),
        ("Müller.txt", "cp437"),
        ("Übersicht.txt", "utf-8"),
    ],
)
def test_names_in_zip_files_are_read_in_the_encoding_of_their_system(name: str, encoding: str):
    raw = name.encode(encoding)
    placeholder = "x" * len(raw)
    packed = zipped({placeholder: "apple"}).replace(placeholder.encode(), raw)
    conversion = converted(packed, "old.zip", READS)
    assert f"| {name} | 5 |" in conversion.text
    assert f"[file: {name}]\napple" in conversion.text
    assert [warning.sent for warning in conversion.warnings] == ([] if encoding in ("utf-8", "cp437") else [encoding])


def test_members_of_a_book_that_nothing_shows_are_counted():
    package = (
        '<package><manifest><item id="1" href="one.xhtml"/><item id="n" href="nav.xhtml" properties="nav"/>'
        '<item id="2" href="two.xhtml"/></manifest><spine><itemref idref="1"/></spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="b/p.opf"/></rootfiles></container>'
    chapter = "<html><head><title>One</title></head><body><h1>One</h1><p hidden>secret</p><audio src='a.mp3'/>rain"
    members = {"META-INF/container.xml": container, "b/p.opf": package, "b/one.xhtml": f"{chapter}</body></html>"}
    others = {"b/nav.xhtml": "<p>contents", "b/two.xhtml": "<p>left", "b/style.css": "", "b/a.mp3": "", "b/x.png": PNG}
    conversion = converted(zipped({"mimetype": "application/epub+zip", **members, **others}), "book.epub")
    assert conversion.text == "# One\n\nrain"
    assert [(loss.what, loss.count, loss.places) for loss in conversion.lost] == [
        ("hidden elements", 1, ("b/one.xhtml",)),
        ("recordings", 1, ("a.mp3",)),
        ("parts of the file that are not read", 2, ("b/two.xhtml", "b/x.png")),
    ]


@pytest.mark.parametrize(("name", "kind"), [("a.ott", "text"), ("a.ots", "spreadsheet"), ("a.otp", "presentation")])
def test_templates_are_read_like_documents(name: str, kind: str):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}-template")
        archive.writestr("content.xml", "<x/>")
    assert media_type_of(file.getvalue(), name) == f"application/vnd.oasis.opendocument.{kind}"


def test_links_in_a_tar_file_are_counted():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"apple"))
        link = tarfile.TarInfo("b.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "a.txt"
        archive.addfile(link)
    assert losses(converted(file.getvalue(), "a.tar", READS)) == {"links and devices": (1, None)}
