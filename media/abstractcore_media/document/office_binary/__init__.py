"""The binary formats of Microsoft Office 97 to 2003."""
