"""Strict fakes of vendors: one module a wire format. Each refuses a request as the vendor does, by a model's raw row.

`tests/providers/test_richest_calls.py` sends every model of the catalogue its richest calls.
"""
