"""What the reader of HTML does with each element (WHATWG HTML, SVG and MathML in it, and elements that are obsolete).

Unknown elements are read, as HTML has it: their text is shown.
"""

from __future__ import annotations

from ..vocabularies import FormatVocabulary

HTML = FormatVocabulary(
    source="the elements of html-tag-names 2.1.0, svg-tag-names 3.0.1 and mathml-tag-names 4.0.0",
    read={
        "headings, paragraphs and sections": """
            address article aside blockquote body br center dd details dialog div dl dt element fieldset figcaption
            figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend main marquee multicol nav p search
            section shadow spacer summary content""",
        "lists with their numbers": "dir li menu menuitem ol ul",
        "tables, with cells over several rows and columns": "caption col colgroup table tbody td tfoot th thead tr",
        "code and other text in fixed width": "code kbd listing plaintext pre samp tt var xmp",
        "links": "a",
        "words in the text, whatever their style": """
            abbr acronym b bdi bdo big blink cite data dfn em font i ins label map mark nobr rb rbc rtc slot small span
            strong time u wbr""",
        "texts of buttons, results and measures": "button meter optgroup output progress",
    },
    converted={
        "the title of the page, unless the text begins with it, to [title: ...]": "title",
        "pictures in the page, or their descriptions": "area image img picture source",
        "values of fields, boxes that are checked, [x], and chosen options": "input isindex option select textarea",
        "superscript and subscript": "sub sup",
        "words that are struck through": "del s strike",
        "readings of East Asian words to parentheses after them": "rt ruby",
        "quotations to quotation marks": "q",
        "texts, titles and descriptions in SVG": "svg svg:*",
        "formulas to LaTeX": "math math:*",
        "pages in a frame that the page itself holds": "iframe",
    },
    lost={
        "recordings": "audio bgsound video track svg:audio svg:video",
        "embedded objects": "applet embed object svg:canvas",
        "drawings of scripts": "canvas",
        "frames": "frame svg:iframe",
        "texts for programs without scripts or frames": "noembed noframes noscript",
        "templates": "template",
        "suggestions for fields": "datalist",
    },
    left_out={
        "scripts and styles": "script style svg:script svg:style svg:handler svg:listener",
        "descriptions of the page for programs": "base basefont link meta nextid param svg:metadata",
        "parentheses around readings, which are written anyway": "rp",
        "controls without a text": "command keygen frameset",
        "definitions of what is drawn elsewhere": """
            svg:clippath svg:defs svg:filter svg:font svg:lineargradient svg:marker svg:mask svg:pattern
            svg:radialgradient""",
    },
)
