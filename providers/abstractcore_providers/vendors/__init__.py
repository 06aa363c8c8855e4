"""Vendors: rows of data, and the few classes whose behaviour differs."""
