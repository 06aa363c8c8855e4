"""Readers of the binary formats of Word, Excel and PowerPoint, in OLE files."""
