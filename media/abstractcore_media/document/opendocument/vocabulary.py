"""What the readers of OpenDocument do with each element of the format (OpenDocument 1.3, part 3)."""

from __future__ import annotations

from ..vocabularies import FormatVocabulary

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_NAMESPACES = {
    f"{_OASIS}animation:1.0": "anim",
    f"{_OASIS}chart:1.0": "chart",
    f"{_OASIS}config:1.0": "config",
    f"{_OASIS}database:1.0": "db",
    f"{_OASIS}datastyle:1.0": "number",
    f"{_OASIS}dr3d:1.0": "dr3d",
    f"{_OASIS}drawing:1.0": "draw",
    f"{_OASIS}form:1.0": "form",
    f"{_OASIS}manifest:1.0": "manifest",
    f"{_OASIS}meta:1.0": "meta",
    f"{_OASIS}office:1.0": "office",
    f"{_OASIS}presentation:1.0": "presentation",
    f"{_OASIS}script:1.0": "script",
    f"{_OASIS}smil-compatible:1.0": "smil",
    f"{_OASIS}style:1.0": "style",
    f"{_OASIS}svg-compatible:1.0": "svg",
    f"{_OASIS}table:1.0": "table",
    f"{_OASIS}text:1.0": "text",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://www.w3.org/1998/Math/MathML": "math",
    "http://www.w3.org/2002/xforms": "xforms",
    "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0": "calcext",
    "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0": "loext",
}

_FIELDS = "fields, as the file shows them"

OPEN_DOCUMENT = FormatVocabulary(
    source="OpenDocument 1.2, part 1, as odfpy 1.4.1 lists its elements",
    namespaces=_NAMESPACES,
    read={
        "the document": """
            form:form office:automatic-styles office:body office:chart office:document office:document-content
            office:document-meta office:document-settings office:document-styles office:drawing office:forms
            office:image office:master-styles office:presentation office:scripts office:spreadsheet office:styles
            office:text style:master-page table:content-validation table:content-validations table:tracked-changes
            text:changed-region text:tracked-changes""",
        "paragraphs, headings and sections": """
            text:h text:meta text:numbered-paragraph text:p text:section text:span""",
        "lists with their numbers": "text:list text:list-header text:list-item text:number",
        "links": "text:a draw:a",
        "tables, hidden sheets too": """
            table:covered-table-cell table:desc table:table table:table-cell table:table-header-rows table:table-row
            table:table-row-group table:table-rows table:title""",
        "headers and footers, but not those that are the number of a page or another field alone": """
            style:footer style:footer-first style:footer-left style:header style:header-first style:header-left
            style:region-center style:region-left style:region-right""",
        "tables of contents and other indexes, as they are": """
            text:alphabetical-index text:bibliography text:illustration-index text:index-body text:index-title
            text:object-index text:table-index text:table-of-content text:user-index""",
        _FIELDS: """
            text:author-initials text:author-name text:bibliography-mark text:bookmark-ref text:chapter
            text:character-count text:conditional-text text:creation-date text:creation-time text:creator
            text:database-display text:database-name text:database-row-number text:date text:dde-connection
            text:description text:drop-down text:editing-cycles text:editing-duration text:expression text:file-name
            text:image-count text:initial-creator text:keywords text:measure text:meta-field text:modification-date
            text:modification-time text:note-ref text:object-count text:page-continuation text:page-count
            text:page-number text:page-variable-get text:page-variable-set text:paragraph-count text:placeholder
            text:print-date text:print-time text:printed-by text:reference-ref text:sender-city text:sender-company
            text:sender-country text:sender-email text:sender-fax text:sender-firstname text:sender-initials
            text:sender-lastname text:sender-phone-private text:sender-phone-work text:sender-position
            text:sender-postal-code text:sender-state-or-province text:sender-street text:sender-title text:sequence
            text:sequence-ref text:sheet-name text:subject text:table-count text:table-formula text:template-name
            text:text-input text:time text:title text:user-defined text:user-field-get text:user-field-input
            text:variable-get text:variable-input text:variable-set text:word-count""",
        "slides": "draw:page",
        "headers, footers and dates of slides, once each": """
            presentation:date-time-decl presentation:footer-decl presentation:header-decl""",
        "shapes and text boxes": """
            draw:caption draw:circle draw:connector draw:custom-shape draw:ellipse draw:frame draw:g draw:line
            draw:measure draw:path draw:polygon draw:polyline draw:rect draw:regular-polygon draw:text-box
            table:shapes""",
        "pictures, with their titles and descriptions": "draw:image svg:desc svg:title office:binary-data",
        "titles of charts, of their axes and legends": """
            chart:axis chart:chart chart:footer chart:legend chart:plot-area chart:subtitle chart:title""",
    },
    converted={
        "spaces, tabs and line breaks to characters": "text:line-break text:s text:tab",
        "notes to [note: ...]": "text:note text:note-body",
        "comments to [comment by ...: ...]": "office:annotation dc:creator",
        "readings of East Asian words to parentheses after them": "text:ruby text:ruby-base text:ruby-text",
        "notes of slides to [notes]": "presentation:notes",
        "charts to tables of their data, with their titles": "draw:object",
        "equations to LaTeX": "math:*",
        "tracked deletions to ~~struck through~~ words, and their number": "text:change text:deletion",
        "form fields to what is filled in, [x] and (x)": """
            draw:control form:button form:checkbox form:combobox form:date form:file form:fixed-text
            form:formatted-text form:frame form:generic-control form:grid form:image form:image-frame form:item
            form:listbox form:number form:option form:password form:radio form:text form:textarea form:time
            form:value-range""",
    },
    lost={
        "tracked deletions of cells": "table:deletion",
        "tracked changes of cells": "table:cell-content-change",
        "hidden texts": "text:hidden-paragraph text:hidden-text",
        "form models": "xforms:model",
        "input messages of cells": "table:error-message table:help-message",
        "labels of chart points": "chart:data-label",
        "embedded objects": "draw:applet draw:floating-frame draw:object-ole",
        "3D scenes": "dr3d:scene",
        "recordings": "draw:plugin",
        "scripts": "office:script text:execute-macro text:script",
    },
    left_out={
        "numbers and marks of notes, which stand in their place": "text:note-citation",
        "places of running headers, footers and dates of slides": """
            presentation:date-time presentation:footer presentation:header""",
        "cached copies of tables in other files": "table:dde-link table:dde-links",
        "pages of a handout": "style:handout-master",
    },
    hidden={"text:section": "display=none is-hidden=true"},
    properties="""
            anim:* calcext:* chart:* config:* db:* dc:* dr3d:* draw:area-circle draw:area-polygon
            draw:area-rectangle draw:contour-path draw:contour-polygon draw:enhanced-geometry
            draw:equation draw:fill-image draw:glue-point draw:gradient draw:handle draw:hatch draw:image-map
            draw:layer draw:layer-set draw:marker draw:opacity draw:page-thumbnail draw:param draw:stroke-dash
            form:* loext:graphic-properties loext:resolved loext:sender-initials loext:table-protection loext:theme
            manifest:* meta:* number:* office:annotation-end office:change-info office:dde-source
            office:event-listeners office:font-face-decls office:meta office:settings presentation:* script:* smil:*
            style:* svg:* table:background table:body table:calculation-settings table:cell-address
            table:cell-content-deletion table:cell-range-source table:change-deletion table:change-track-table-cell
            table:consolidation table:cut-offs table:data-pilot-display-info table:data-pilot-field
            table:data-pilot-field-reference table:data-pilot-group table:data-pilot-group-member
            table:data-pilot-groups table:data-pilot-layout-info table:data-pilot-level table:data-pilot-member
            table:data-pilot-members table:data-pilot-sort-info table:data-pilot-subtotal table:data-pilot-subtotals
            table:data-pilot-table table:data-pilot-tables table:database-range table:database-ranges
            table:database-source-query table:database-source-sql table:database-source-table table:deletions
            table:dependencies table:dependency table:detective table:error-macro table:even-columns table:even-rows
            table:filter table:filter-and table:filter-condition table:filter-or table:filter-set-item
            table:first-column table:first-row table:highlighted-range table:insertion table:insertion-cut-off
            table:iteration table:label-range table:label-ranges table:last-column table:last-row table:movement
            table:movement-cut-off table:named-expression table:named-expressions table:named-range table:null-date
            table:odd-columns table:odd-rows table:operation table:previous table:scenario table:sort table:sort-by
            table:sort-groups table:source-cell-range table:source-range-address table:source-service
            table:subtotal-field table:subtotal-rule table:subtotal-rules table:table-column
            table:table-column-group table:table-columns table:table-header-columns table:table-source
            table:table-template table:target-range-address text:alphabetical-index-auto-mark-file
            text:alphabetical-index-entry-template text:alphabetical-index-mark text:alphabetical-index-mark-end
            text:alphabetical-index-mark-start text:alphabetical-index-source text:bibliography-configuration
            text:bibliography-entry-template text:bibliography-source text:bookmark text:bookmark-end
            text:bookmark-start text:change-end text:change-start text:database-next
            text:database-row-select text:dde-connection-decl text:dde-connection-decls text:format-change
            text:illustration-index-entry-template text:illustration-index-source text:index-entry-bibliography
            text:index-entry-chapter text:index-entry-link-end text:index-entry-link-start
            text:index-entry-page-number text:index-entry-span text:index-entry-tab-stop text:index-entry-text
            text:index-source-style text:index-source-styles text:index-title-template text:insertion text:label
            text:linenumbering-configuration text:linenumbering-separator text:list-level-style-bullet
            text:list-level-style-image text:list-level-style-number text:list-style
            text:note-continuation-notice-backward text:note-continuation-notice-forward text:notes-configuration
            text:object-index-entry-template text:object-index-source text:outline-level-style text:outline-style
            text:page text:page-sequence text:reference-mark text:reference-mark-end text:reference-mark-start
            text:section-source text:sequence-decl text:sequence-decls text:soft-page-break text:sort-key
            text:table-index-entry-template text:table-index-source text:table-of-content-entry-template
            text:table-of-content-source text:toc-mark text:toc-mark-end text:toc-mark-start text:user-field-decl
            text:user-field-decls text:user-index-entry-template text:user-index-mark text:user-index-mark-end
            text:user-index-mark-start text:user-index-source text:variable-decl text:variable-decls""",
    lost_members={"macros": "Basic/* Scripts/*"},
    left_out_members={
        "settings and descriptions of the package": """
            *.rdf */settings.xml Basic/*/script-lb.xml Basic/script-lc.xml Configurations2/* META-INF/* layout-cache
            manifest.rdf mimetype settings.xml""",
        "properties of the document, such as its author": "meta.xml */meta.xml",
        "small pictures of the file and of its objects": "Thumbnails/* ObjectReplacements/* Pictures/TablePreview*",
        "styles of charts and formulas": "*/styles.xml",
    },
)

FIELDS = frozenset(kind.rpartition(":")[2] for kind in OPEN_DOCUMENT.read[_FIELDS].split())
"""Elements whose text a program computes, without prefixes."""
