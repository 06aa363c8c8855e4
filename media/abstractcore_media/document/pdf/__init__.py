"""PDF: read and drawn by PDFium, cut by pypdf."""
