"""PDF: opened by PDFium in a process of its own; cut by pypdf."""
