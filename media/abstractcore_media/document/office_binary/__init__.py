"""Readers of the binary formats of Word and PowerPoint, in OLE files."""
