"""Answers checked against the files of their calls: evidence for typed answers, verification of text answers."""
