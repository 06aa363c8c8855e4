"""The reference: one page for each public name, made of docstrings and signatures."""
