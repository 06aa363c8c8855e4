"""Mails by the standard library, and one that Outlook saved."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from .corpus import Family
from .facts import each, in_order, says, table
from .web import BODY, LEAGUE, written

MAIL = Family("the standard library")


def saved(build: Callable[[EmailMessage], object]) -> Callable[[Path], object]:
    """A maker of the mail that a function fills."""

    def make(path: Path) -> None:
        mail = EmailMessage(SMTP)
        mail["From"], mail["To"] = "Ann Möller <ann@example.com>", "Bob <bob@example.com>"
        mail["Date"] = "Tue, 03 Jun 2025 08:15:00 +0200"
        build(mail)
        path.write_bytes(mail.as_bytes())

    return make


HEADERS = each("Ann Möller", "bob@example.com")


@MAIL.file(
    "attached.eml",
    HEADERS,
    each("Rechnung für Mai – 12 €", "Bitte bis Freitag prüfen.", "list.csv"),
    table(("Post", "EUR"), ("Seil", "12.50")),
    in_order("Ann Möller", "Bitte bis Freitag", "Seil"),
)
@saved
def _attached(mail: EmailMessage) -> None:
    mail["Subject"] = "Rechnung für Mai – 12 €"
    mail.set_content("Bitte bis Freitag prüfen.\n")
    mail.add_attachment(b"Post,EUR\nSeil,12.50\n", maintype="text", subtype="csv", filename="list.csv")


@MAIL.file("page.eml", LEAGUE, each("League of May"))
@saved
def _page(mail: EmailMessage) -> None:
    mail["Subject"] = "League of May"
    mail.set_content("Your program cannot show this mail.")
    mail.add_alternative(f"<html><body>{BODY}</body></html>", subtype="html")


@MAIL.file("both.eml", each("The boat leaves at nine.", "Take the blue ticket."))
@saved
def _both(mail: EmailMessage) -> None:
    mail["Subject"] = "Boat"
    mail.set_content("The boat leaves at nine. Take the blue ticket.\n")
    mail.add_alternative("<p>The boat leaves at <b>nine</b>. Take the blue ticket.</p>", subtype="html")


@MAIL.file(
    "forwarded.eml", each("See below.", "First letter", "The roof leaks."), in_order("See below.", "The roof leaks.")
)
@saved
def _forwarded(mail: EmailMessage) -> None:
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "First letter", "eve@example.com"
    inner.set_content("The roof leaks.\n")
    mail["Subject"] = "Fwd: First letter"
    mail.set_content("See below.\n")
    mail.add_attachment(inner)


MAIL.file("latin1.eml", each("Grüße aus Köln", "“5 €”", "Preis: 3 €"))(
    written(
        "From: a@example.com\r\nTo: b@example.com\r\nSubject: =?iso-8859-1?Q?Gr=FC=DFe_aus_K=F6ln?=\r\n"
        "MIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\n\r\n“5 €”\r\nPreis: "
        "3 €\r\n",
        "cp1252",
    )
)
MAIL.file("quoted_printable.eml", each("A long line that is cut here and goes on", "3 × 4 = 12"))(
    written(
        "From: a@example.com\r\nTo: b@example.com\r\nSubject: Lines\r\nMIME-Version: 1.0\r\nContent-Type: "
        "text/plain; charset=utf-8"
        "\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nA long line that is cut =\r\nhere and goes "
        "on\r\n3 =C3=97 4 =3D 12\r\n"
    )
)


@MAIL.file("meeting.eml", each("Planning", "Room 12"), says("2025-06-10 14:00", "20250610T140000", "2025-06-10T14:00"))
@saved
def _meeting(mail: EmailMessage) -> None:
    mail["Subject"] = "Invitation: Planning"
    mail.set_content("You are invited.\n")
    event = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Planning\r\nLOCATION:Room 12\r\n"
        "DTSTART:20250610T140000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    mail.add_attachment(event.encode(), maintype="text", subtype="calendar", filename="invite.ics")
