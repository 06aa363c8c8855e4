"""Mails: EML (MIME) and MSG (Outlook)."""
