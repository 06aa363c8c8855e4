"""What the reader of DOC does with each text, table and property of characters of a document (MS-DOC)."""

from __future__ import annotations

from ..vocabularies import FormatVocabulary

WORD = FormatVocabulary(
    source="the texts, tables and properties of characters of Apache POI's reader of MS-DOC",
    read={
        "the text, with headings, tables and the results of fields": "text:MAIN",
        "footnotes and endnotes": """
            text:FOOTNOTE text:ENDNOTE table:PLCFFNDREF table:PLCFFNDTXT table:PLCFENDREF table:PLCFENDTXT""",
        "headers and footers, each once": "text:HEADER table:PLCFHDD",
        "comments, with their authors": "text:ANNOTATION table:PLCFANDREF table:PLCFANDTXT table:GRPXSTATNOWNERS",
        "text boxes": "text:TEXTBOX text:HEADER_TEXTBOX table:PLCFTXBXTXT table:PLCFHDRTXBXTXT",
        "pictures, and words as shapes": "table:DGGINFO table:PLCSPAMOM table:PLCSPAHDR sprm:PICLOCATION",
    },
    converted={
        "automatic numbers to those that Word shows": "table:PLFLST table:PLFLFO",
        "superscript, subscript and strike-through to their marks": "sprm:ISS sprm:FSTRIKE sprm:FDSTRIKE",
        "tracked deletions to words that are struck through": "sprm:FRMARKDEL",
        "characters of symbol fonts to Unicode": "sprm:SYMBOL",
        "boxes and lists of forms to their state": "sprm:FDATA",
        "links to Markdown": "",
        "embedded files to their text": "sprm:FOLE2",
    },
    lost={
        "hidden texts": "sprm:FVANISH",
        "embedded objects": "sprm:FOBJ sprm:OBJLOCATION",
        "equations of old programs": "",
        "damaged tables of the document": "",
        "characters outside of the file": "",
    },
    left_out={
        "macros, and buttons and keys for them": "text:MACRO table:CMDS table:PLCMCR table:STTBFMCR",
        "bookmarks, and outlines of other documents": """
            table:STTBFBKMK table:PLCFBKF table:PLCFBKL table:STTBFATNBKMK table:PLCFATNBKF table:PLCFATNBKL
            table:STTBFINTFLD table:PLCFWKB""",
        "glossaries of templates": "table:STTBGLSY table:PLCFGLSY table:STTBGLSYSTYLE",
        "what programs keep for printing, saving, undoing and checking": """
            table:PLCFPAD table:PLCFPHE table:PLCFSEA table:PRDRVR table:PRENVPORT table:PRENVLAND table:WSS table:DOP
            table:STTBFASSOC table:PLCFPGDFTN table:PLCFPGDEDN table:AUTOSAVESOURCE table:PMS table:FORMFLDSTTBS
            table:STTBFRMARK table:STTBCAPTION table:STTBAUTOCAPTION table:PLCFSPL table:STWUSER table:STTBTTMBD
            table:UNUSED table:PGDMOTHER table:BKDMOTHER table:PGDFTN table:BKDFTN table:PGDEDN table:BKDEDN
            table:ROUTESLIP table:STTBSAVEDBY table:STTBFNM table:PLCFLST table:PLCFTXBXBKD table:PLCFTXBXHDRBKD
            table:DOCUNDO table:RGBUSE table:USP table:USKF table:PLCUPCRGBUSE table:PLCUPCUSP table:PLGOSL
            table:PLCOCX table:PLCFBTELVC table:MODIFIED table:PLCFLVC table:PLCASUMY table:PLCFGRAM
            table:STTBLISTNAMES table:STTBFUSSR""",
        "drawings of Word 6, which later versions do not show": "table:PLCFDOAMOM table:PLCDOAHDR",
        "the places of fields, which their characters have too": """
            table:PLCFFLDMOM table:PLCFFLDHDR table:PLCFFLDFTN table:PLCFFLDATN table:PLCFFLDMCR table:PLCFFLDEDN
            table:PLCFFLDTXBX table:PLCFFLDHDRTXBX""",
    },
    properties="""
        table:STSHFORIG table:STSHF table:PLCFSED table:PLCFBTECHPX table:PLCFBTEPAPX table:STTBFFFN table:CLX
        sprm:ISTD sprm:ISTDPERMUTE sprm:PLAIN sprm:FRMARK sprm:FFLDVANISH sprm:FSPEC sprm:*""",
)
