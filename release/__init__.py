"""What is done before a release: distributions built and checked, licences and advisories of what they require, and
tests with each Python. See docs/releasing.md.
"""
