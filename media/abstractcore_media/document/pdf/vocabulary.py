"""What the reader of PDF does with each kind of object, annotation and field of a form (ISO 32000)."""

from __future__ import annotations

from ..vocabularies import FormatVocabulary

PDF = FormatVocabulary(
    source="ISO 32000, whose objects, annotations and fields the header files of PDFium list",
    read={
        "words in reading order, column by column": "object:text object:form",
        "pictures": "object:image",
    },
    converted={
        "aligned words and words within ruling lines to tables": "object:path",
        "raised and lowered words to x² and H₂O": "words:raised words:lowered",
        "links to Markdown, with their addresses": "annotation:Link",
        "words struck through to ~~words~~": "annotation:StrikeOut",
        "comments to [comment by ...: ...]": """
            annotation:Text annotation:Line annotation:Square annotation:Circle annotation:Polygon annotation:PolyLine
            annotation:Highlight annotation:Underline annotation:Squiggly annotation:Stamp annotation:Caret
            annotation:Ink""",
        "names of stamps to [stamp: ...]": "stamp:named",
        "text typed on the page to [text: ...]": "annotation:FreeText",
        "fields of forms to their values, ____ if empty": """
            annotation:Widget field:TextField field:ComboBox field:ListBox""",
        "check boxes to [x], radio buttons to (x)": "field:CheckBox field:RadioButton",
        "attached files, as those of a mail": "annotation:FileAttachment",
        "values of XFA forms that no field shows to [form data]": "form:XFA-data",
    },
    lost={
        "hidden words": "words:hidden",
        "drawings": "object:shading words:drawn ink:drawn",
        "hidden form fields": "field:hidden",
        "hidden annotations": "annotation:hidden",
        "passwords": "field:password",
        "signatures": "field:Signature",
        "form fields": "field:Unknown annotation:XFAWidget",
        "XFA forms": "form:XFA",
        "headings of the outline": "outline:after-1000",
        "sounds": "annotation:Sound",
        "videos": "annotation:Movie annotation:Screen annotation:RichMedia",
        "3D models": "annotation:3D",
        "watermarks": "annotation:Watermark",
        "marks for redaction": "annotation:Redact",
        "annotations of other kinds": "annotation:Unknown",
    },
    left_out={
        "windows of comments": "annotation:Popup",
        "marks for printers": "annotation:PrinterMark annotation:TrapNet",
        "buttons": "field:PushButton",
    },
)
