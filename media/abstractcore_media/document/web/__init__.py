"""HTML, and EPUB, which is HTML in a ZIP file."""
