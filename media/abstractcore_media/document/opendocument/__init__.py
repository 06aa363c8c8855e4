"""OpenDocument: texts, spreadsheets and presentations."""
