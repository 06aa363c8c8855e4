"""Mails: the better form of a text is read, every part is, and parts that are not are counted."""

from __future__ import annotations

import mimetypes
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import TypeAlias

import pytest

from abstractcore_media.document.mail.vocabulary import MAIL
from tests.media.document.documents import converted, losses
from tests.media.document.test_formats import PNG, READS
from tests.media.document.vocabulary_lists import CANARY, undeclared

WORDS = "The invoice of May has 17 items, and the total is 1,204.50 euros. Please pay it within 30 days to our account."
Part: TypeAlias = EmailMessage | MIMEText | MIMEMultipart | MIMEMessage | MIMEApplication


def read(*parts: Part, subtype: str = "mixed") -> str:
    return converted(mail(*parts, subtype=subtype), "letter.eml", READS).text.partition("Subject: s\n\n")[2]


def mail(*parts: Part, subtype: str) -> bytes:
    message = MIMEMultipart(subtype)
    message["Subject"] = "s"
    for part in parts:
        message.attach(part)
    return message.as_bytes()


def test_every_type_of_a_part_is_declared():
    known = mimetypes.MimeTypes()  # of Python itself, without those of the system
    assert undeclared(MAIL, sorted({each for types in known.types_map for each in types.values()})) == []


def test_html_is_read_where_the_plain_text_lacks_most_of_its_words():
    plain = MIMEText("Your mail program cannot show this message. See it in a browser.")
    assert read(plain, MIMEText(f"<p>{WORDS}", "html"), subtype="alternative") == WORDS
    assert read(MIMEText(WORDS), MIMEText(f"<h1>Hi</h1>{WORDS}", "html"), subtype="alternative") == WORDS


def test_pictures_of_a_form_that_is_not_read_are_attachments_still():
    related = MIMEMultipart("related")
    related.attach(MIMEText(f"<p>{WORDS}<img src='cid:a'>", "html"))
    picture = EmailMessage()
    picture.set_content(PNG, "image", "png", cid="<a>", filename="a.png")
    related.attach(picture)
    conversion = converted(mail(MIMEText(WORDS), related, subtype="alternative"), "letter.eml")
    assert conversion.text.endswith(f"{WORDS}\n\n[picture: a.png, not shown here]")


def test_texts_that_follow_each_other_are_all_read():
    first, second = MIMEText("plain before"), MIMEText("<p>page one", "html")
    assert read(first, second, MIMEText("<p>page two", "html")) == "plain before\n\npage one\n\npage two"


def test_signatures_are_left_out_and_encrypted_or_missing_parts_are_counted():
    parts = [MIMEApplication(b"x", "pgp-signature"), MIMEApplication(b"x", "pkcs7-mime")]
    conversion = converted(mail(MIMEText("hello"), *parts, subtype="mixed"), "letter.eml", READS)
    assert conversion.text.endswith("hello")
    assert losses(conversion) == {"encrypted parts": (1, None)}


def test_hidden_words_of_html_are_counted_if_it_is_read():
    page = f"<div style='display:none'>preview</div><p>{WORDS}"
    conversion = converted(mail(MIMEText(page, "html"), subtype="mixed"), "letter.eml")
    assert losses(conversion) == {"hidden elements": (1, None)}


@pytest.mark.parametrize("charset", ["iso-8859-1", "ISO-8859-1", "us-ascii"])
def test_charsets_are_those_of_the_web(charset: str):
    head = (
        f'Subject: s\nMIME-Version: 1.0\nContent-Type: text/plain; charset="{charset}"\nContent-Transfer-Encoding: 8bit'
    )
    assert "“12 €”" in converted(f"{head}\n\n".encode() + "“12 €”".encode("cp1252"), "letter.eml").text


def test_a_text_in_a_part_of_any_kind_is_in_the_output_or_counted():
    kinds = ["text/plain", "text/html", "text/calendar", "application/json", "text/x-vcard", "message/external-body"]
    for kind in (*kinds, "message/delivery-status", "application/pkcs7-mime", "chemical/x-pdb", "message/partial"):
        body = f"Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nbesides\n--b\nContent-Type: {kind}\n\n"
        conversion = converted(f"{body}Final-Recipient: {CANARY}\n\nX: {CANARY}\n--b--\n".encode(), "m.eml", READS)
        assert CANARY in conversion.text or conversion.lost, kind


def test_reports_of_deliveries_say_what_was_not_delivered():
    report = "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; a.org\n\n"
    report += "Final-Recipient: rfc822; ann@b.org\nStatus: 5.1.1\n--b--\n"
    head = "Subject: s\nContent-Type: multipart/report; boundary=b; report-type=delivery-status\n\n"
    text = converted((head + report).encode(), "m.eml").text
    assert text.endswith("Reporting-MTA: dns; a.org\n\nFinal-Recipient: rfc822; ann@b.org\nStatus: 5.1.1")
