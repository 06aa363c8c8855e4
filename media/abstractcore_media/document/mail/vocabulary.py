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
    source="the properties of MS-OXPROPS that hold content, as msg_parser lists them",
    read={
        "sender, receivers, date and subject": "0037 0050 0C1A 0C1F 0E02 0E03 0E04 0039 0E06",
        "the text, or HTML where the plain text lacks most of its words": "1000 1013",
        "texts of reports of deliveries": "1001",
    },
    converted={"attachments to the text of the file that they are": "3001 3701 3703 3704 3707 370E 3712"},
    lost={
        "texts": "1009",
        "details of appointments, tasks and the like": "details",
        "details of contacts": """
            3A02 3A05 3A06 3A07 3A08 3A09 3A0A 3A0B 3A0C 3A0D 3A0F 3A10 3A11 3A12 3A15 3A16 3A17 3A18
            3A19 3A1A 3A1B 3A1C 3A1D 3A1E 3A1F 3A21 3A22 3A23 3A24 3A25 3A26 3A27 3A28 3A29 3A2A 3A2B
            3A2D 3A2E 3A2F 3A30 3A43 3A44 3A45 3A46 3A47 3A48 3A49 3A4A 3A4B 3A4C 3A4E 3A4F 3A50 3A51
            3A57 3A59 3A5A 3A5B 3A5C 3A5D 3A5E 3A5F 3A60 3A61 3A62 3A63 3A64""",
    },
    left_out={
        "the headers as they were sent, and names in other forms": """
            007D 0E1D 003D 0070 0042 0064 0065 5D01 5D02 0C1E 39FE 39FF 3002 3003 5FF6""",
        "who received the mail for whom, and the mail that it answers": """
            0040 0044 0049 004B 004D 005A 005D 0066 0067 0068 0069 0072 0073 0074 0075 0076 0077 0078
            5D07 5D08 4029 402A 402B 5D05 1035 1039 1042 1046""",
    },
    properties="""
        001A
        0001 0004 0025 0031 003A 003B 003F 0041 0043 0045 0046 0047 004C 004F 0051 0052 0053 0054 005B 005C
        005E 005F 0071 007F 0080 0081 0809 0C19 0C1B 0C1D 0C21 0E09 0E12 0E13 0E28 0E29 0E2C 0E2D 0E6A 0E84
        0E99 0E9A 0FF6 0FF8 0FF9 0FFB 0FFF 1014 1015 1043 1044 1045 3004 300B 3010 3013 3018 3019 301B 360C
        360E 360F 3610 3613 36D0 36D1 36D2 36D3 36D4 36D5 36D7 36D9 36DA 36E5 3702 3708 3709 370A 370C 370D
        370F 3711 3713 3719 371A 371B 3902 3A00 3A20 3FE0 3FF0 3FF8 3FF9 3FFA 3FFB 4083 5FF7 64F0 65C2 65E0
        65E1 65E2 65E3 65EB 65EC 65EE 6619 661B 661C 6622 6638 663B 6645 6646 6651 6672 6675 6681 6682 6684
        6704 670E 6800 6802 6803 6805 6806 6820 6842 6844 6845 6849 684B 684C 684D 684E 684F 6850 6851 6854
        686A 686C 6890 6891 7001 7002 7006 7C07 7C08""",
)
