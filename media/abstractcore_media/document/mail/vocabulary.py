"""What the readers of mails do with each type of part (RFC 2045 to 2049, and the media types of IANA)."""

from __future__ import annotations

from ..vocabularies import FormatVocabulary

MAIL = FormatVocabulary(
    source="the media types of IANA",
    read={
        "the headers From, To, Cc, Bcc, Reply-To, Date and Subject": "",
        "the text, or HTML where the plain text lacks most of its words": "text/plain text/html",
        "attached mails": "message/rfc822 message/global",
    },
    converted={
        "other parts to the text of the file that they are": """
            application/* audio/* font/* image/* model/* text/* video/*""",
        "reports of deliveries to their text": "message/delivery-status message/disposition-notification",
    },
    lost={
        "parts that are elsewhere": "message/external-body message/partial",
        "encrypted parts": "application/pgp-encrypted application/pkcs7-mime application/x-pkcs7-mime",
    },
    left_out={
        "signatures": "application/pgp-signature application/pkcs7-signature application/x-pkcs7-signature",
        "a form of the text for programs that show it in parts": "text/x-amp-html",
    },
)

OUTLOOK = FormatVocabulary(
    source="the properties of MS-OXPROPS that hold content",
    read={
        "sender, receivers, date and subject": "0037 0C1A 0C1F 0E04 0E03 0039 0E06",
        "the text, or HTML where the plain text lacks most of its words": "1000 1013",
    },
    converted={"attachments to the text of the file that they are": "3701 3703 3704 3707 370E 3712"},
    lost={"texts": "1009"},
)
