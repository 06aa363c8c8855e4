"""What the readers of Office Open XML do with each element of the format (ECMA-376, part 1) and of its extensions.

What describes others is far more than what has content, so "w:*" stands for the rest of a namespace. The standard is
closed: the test of this vocabulary walks all of its elements that may hold a text, a picture or another part.
"""

from __future__ import annotations

from ..vocabularies import FormatVocabulary

_PREFIXES = {
    "wordprocessingml": "w", "drawingml": "a", "drawingml/chart": "c", "drawingml/chartDrawing": "cdr",
    "drawingml/diagram": "dgm", "drawingml/lockedCanvas": "lc", "drawingml/picture": "pic",
    "drawingml/spreadsheetDrawing": "xdr", "drawingml/wordprocessingDrawing": "wp", "presentationml": "p",
    "spreadsheetml": "x", "officeDocument/math": "m",
}  # fmt: skip
_TRANSITIONAL = {
    f"http://schemas.openxmlformats.org/{name}/2006/main"
    if "/" not in name
    else f"http://schemas.openxmlformats.org/{name.replace('/', '/2006/')}": prefix
    for name, prefix in _PREFIXES.items()
}
_STRICT = {
    f"http://purl.oclc.org/ooxml/{name}{'' if '/' in name else '/main'}": prefix for name, prefix in _PREFIXES.items()
}
_MICROSOFT = "http://schemas.microsoft.com/office/"
_NAMESPACES = {
    **_TRANSITIONAL,
    **_STRICT,
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:office": "o",
    "urn:schemas-microsoft-com:office:word": "w10",
    "urn:schemas-microsoft-com:office:excel": "xvml",
    "urn:schemas-microsoft-com:office:powerpoint": "pvml",
    f"{_MICROSOFT}drawing/2010/main": "a14",
    f"{_MICROSOFT}drawing/2012/main": "a15",
    f"{_MICROSOFT}drawing/2014/main": "a16",
    f"{_MICROSOFT}drawing/2014/chartex": "cx",
    f"{_MICROSOFT}drawing/2007/8/2/chart": "c14",
    f"{_MICROSOFT}drawing/2012/chart": "c15",
    f"{_MICROSOFT}drawing/2014/chart": "c16",
    f"{_MICROSOFT}drawing/2016/SVG/main": "asvg",
    f"{_MICROSOFT}drawing/2017/model3d": "am3d",
    f"{_MICROSOFT}drawing/2008/diagram": "dsp",
    f"{_MICROSOFT}powerpoint/2010/main": "p14",
    f"{_MICROSOFT}powerpoint/2012/main": "p15",
    f"{_MICROSOFT}powerpoint/2018/8/main": "p188",
    f"{_MICROSOFT}spreadsheetml/2009/9/main": "x14",
    f"{_MICROSOFT}spreadsheetml/2010/11/main": "x15",
    f"{_MICROSOFT}spreadsheetml/2018/threadedcomments": "x18tc",
    f"{_MICROSOFT}excel/2006/main": "xm",
    f"{_MICROSOFT}word/2010/wordml": "w14",
    f"{_MICROSOFT}word/2012/wordml": "w15",
    f"{_MICROSOFT}word/2010/wordprocessingCanvas": "wpc",
    f"{_MICROSOFT}word/2010/wordprocessingGroup": "wpg",
    f"{_MICROSOFT}word/2010/wordprocessingShape": "wps",
    f"{_MICROSOFT}word/2010/wordprocessingDrawing": "wp14",
}

OFFICE = FormatVocabulary(
    source="ECMA-376, part 1, 4th edition, by its schemas",
    namespaces=_NAMESPACES,
    read={
        "the document, its headers, footers and notes": """
            w:body w:document w:endnote w:endnotes w:footnote w:footnotes w:ftr w:hdr""",
        "paragraphs and headings with their automatic numbers, insertions and moved text too": """
            w:bdo w:customXml w:dir w:ins w:moveTo w:p w:r w:smartTag w:t""",
        "files that Word inserts": "w:altChunk",
        "tables": "a:tbl a:tc a:tr w:tbl w:tc w:tr",
        "links": "w:hyperlink x:hyperlink x:hyperlinks",
        "content controls with their choices": "w:sdt w:sdtContent",
        "fields, as the file shows them": "a:fld w:fldSimple",
        "slides with their shapes, and their notes": """
            p:cNvPr p:cSld p:grpSp p:notes p:nvSpPr p:sld p:sp p:spTree p:txBody""",
        "headers, footers and dates of slides that are not fields alone, and texts of their layouts, once each": "",
        "texts of shapes, diagrams and text boxes": """
            a:p a:r a:t a:txBody dgm:dataModel dgm:pt dgm:ptLst dgm:t v:arc v:curve v:group v:image v:line v:oval
            v:polyline v:rect v:roundrect v:shape v:textbox w:drawing w:object w:pict w:txbxContent wp:anchor wp:inline
            wpc:wpc wpg:grpSp wpg:wgp wps:txbx wps:wsp xdr:absoluteAnchor xdr:graphicFrame xdr:grpSp xdr:oneCellAnchor
            xdr:sp xdr:twoCellAnchor xdr:txBody
            xdr:wsDr""",
        "pictures with their descriptions": """
            a:blip a:graphic a:graphicData p:bg p:bgPr p:blipFill p:graphicFrame p:pic pic:blipFill pic:pic v:imagedata
            xdr:blipFill xdr:pic""",
        "sheets with their cells, hidden ones too": """
            x:c x:chartsheet x:is x:r x:row x:sheetData x:si x:sst x:t x:v x:workbook x:worksheet""",
    },
    converted={
        "deletions to ~~struck through~~ words, and their number": "w:del w:delText",
        "tabs and line breaks to characters": "a:br w:br w:cr w:noBreakHyphen w:ptab w:sym w:tab",
        "notes to [^1]": "w:endnoteReference w:footnoteReference",
        "comments to [comment by ...: ...]": """
            p188:cm p188:cmLst p188:reply p188:replyLst
            p188:txBody p:cm p:cmLst p:text w:comment w:commentReference w:comments x18tc:ThreadedComments
            x18tc:person x18tc:personList x18tc:text x18tc:threadedComment x:comment x:commentList x:comments x:text""",
        "readings of East Asian words to parentheses after them": "w:rt w:ruby w:rubyBase",
        "equations to LaTeX": "a14:m m:*",
        "choices of cells and input messages to [B2: choices: ...]": """
            x14:dataValidation x:dataValidation x:dataValidations""",
        "headers and footers of sheets to [header for printing: ...]": """
            x:evenFooter x:evenHeader x:firstFooter x:firstHeader x:headerFooter x:oddFooter x:oddHeader""",
        "charts to tables of their data, with their titles": """
            c:area3DChart c:areaChart c:bar3DChart c:barChart c:bubbleChart c:bubbleSize c:cat c:catAx c:chart
            c:chartSpace c:dateAx c:doughnutChart c:line3DChart c:lineChart c:lvl c:multiLvlStrCache c:multiLvlStrRef
            c:numCache c:numLit c:numRef c:ofPieChart c:pie3DChart c:pieChart c:plotArea c:pt c:radarChart c:rich
            c:scatterChart c:ser c:serAx c:stockChart c:strCache c:strLit c:strRef c:surface3DChart c:surfaceChart
            c:title c:tx c:v c:val c:valAx c:xVal c:yVal cx:chart cx:chartData cx:chartSpace cx:data cx:lvl cx:numDim
            cx:plotArea cx:plotAreaRegion cx:pt cx:rich cx:series cx:strDim cx:title cx:tx cx:txData cx:v""",
        "forms of content for newer programs instead of those for older ones": "mc:AlternateContent mc:Choice",
    },
    lost={
        "form controls": "p:control w:control x:control",
        "files that a program inserts": "w:subDoc",
        "ink": "p:contentPart w:contentPart xdr:contentPart",
        "labels of chart points": "cx:dataLabel",
        "3D models": "am3d:model3d",
        "page numbers and dates of today": """
            w:dayLong w:dayShort w:monthLong w:monthShort w:pgNum w:yearLong w:yearShort""",
    },
    left_out={
        "forms of content for older programs": "mc:Fallback",
        "moved text, where it stood before": "w:moveFrom",
        "readings of East Asian words in cells": "x:phoneticPr x:rPh",
    },
    properties="""
        a14:* a15:* a16:* a:* am3d:* asvg:* c14:* c15:* c16:* c:* cdr:* cx:* dgm:* dsp:* lc:* mc:* o:* p14:* p15:*
        p188:* p:* pic:* pvml:* rel:* v:* w10:* w14:* w15:* w:* wp14:* wp:* wpc:* wpg:* wps:* x14:* x15:* x:* xdr:*
        x18tc:* xm:* xvml:*""",
    lost_members={
        "macros": "*/vbaProject.bin */vbaData.xml xl/macrosheets/*",
        "drawings on charts": "*/drawings/drawing*.xml",
        "tracked changes of cells": "xl/revisions/*",
    },
    left_out_members={
        "settings and descriptions of the package": """
            *.rels [[]Content_Types].xml */settings.xml */webSettings.xml */fontTable.xml */fonts/* *.fntdata *.odttf
            */presProps.xml */viewProps.xml */tableStyles.xml */printerSettings/* */calcChain.xml */metadata.xml
            */stylesWithEffects.xml xl/customProperty/* */commentsExtended.xml */commentsIds.xml
            */commentsExtensible.xml */people.xml */persons/* */authors.xml */commentAuthors.xml */revisionInfo.xml
            */changesInfos/* _xmlsignatures/* */docMetadata/* */featurePropertyBag/* */richData/* */tags/*""",
        "properties of the document, such as its author": "docProps/* customXml/* custom/*",
        "layouts and masters of slides, styles and themes": """
            */slideLayouts/* */slideMasters/* */notesMasters/* */handoutMasters/* */theme/* */styles.xml
            */charts/style*.xml */charts/colors*.xml */numbering.xml""",
        "copies of data that stand in tables and charts, and where these come from": """
            */embeddings/*.xls? xl/externalLinks/* xl/pivotCache/* xl/pivotTables/* xl/tables/* xl/slicers/*
            xl/slicerCaches/* xl/timelines/* xl/timelineCaches/* xl/queryTables/* xl/connections.xml xl/xmlMaps.xml
            xl/model/* customData/*""",
        "shapes of diagrams and comments, whose texts are read": "*/diagrams/* *.vml",
        "controls, which are counted where they stand": "*/activeX/* xl/ctrlProps/*",
        "building blocks": "word/glossary/*",
        "pictures of layouts and masters": "*/media/*",
    },
)
