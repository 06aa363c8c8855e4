"""What the reader of RTF does with each destination, a group that is not just text (RTF 1.9.1)."""

from __future__ import annotations

from .vocabularies import FormatVocabulary

RTF = FormatVocabulary(
    source="the destinations of RTF that striprtf lists",
    read={
        "the text, in shapes too": "rtf ud upr shp shpinst shpgrp shptxt shprslt shppict field fldrslt",
        "footnotes and endnotes": "footnote",
        "headers and footers": "header headerl headerr headerf footer footerl footerr footerf",
        "comments, with their authors": "annotation atnauthor",
        "pictures": "pict",
        "results of fields and objects, addresses of links": "fldinst result",
        "numbers of lists": "listtext pntext",
    },
    converted={
        "equations to LaTeX": """
            macc maccPr maln malnScr margPr mbar mbarPr mbaseJc mbegChr mborderBox mborderBoxPr mbox mboxPr mchr
            mcount mctrlPr md mdPr mdeg mdegHide mden mdiff me mendChr meqArr meqArrPr mf mfName mfPr mfunc mfuncPr
            mgroupChr mgroupChrPr mgrow mhideBot mhideLeft mhideRight mhideTop mlim mlimloc mlimlow mlimlowPr mlimupp
            mlimuppPr mm mmPr mmath mmathPict mmathPr mmaxdist mmc mmcJc mmcPr mmcs mmr mnary mnaryPr mnoBreak mnum
            moMath moMathPara moMathParaPr mobjDist mopEmu mphant mphantPr mplcHide mpos mr mrPr mrad mradPr msPre
            msPrePr msSub msSubPr msSubSup msSubSupPr msSup msSupPr msepChr mshow mshp mstrikeBLTR mstrikeH
            mstrikeTLBR mstrikeV msub msubHide msup msupHide mtransp mtype mvertJc mvfmf mvfml mvtof mvtol mzeroAsc
            mzeroDesc mzeroWid""",
    },
    lost={
        "embedded objects": "objdata",
        "text boxes of Word 6": "dptxbxtext",
        "states of form fields": "formfield",
        "hidden texts": "v",
    },
    left_out={
        "what older programs show in place of newer content": "nonesttables htmltag mhtmltag",
        "entries of indexes and tables of contents": "xe xform tc rxe txe",
        "separators of notes": "ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn",
        "properties of the document, such as its title and author": """
            info title subject author manager company operator category keywords comment doccomm hlinkbase creatim
            revtim printim buptim userprops propname staticval linkval docvar""",
    },
    properties="""
        atndate atnicn atnid atnparent atnref atntime atrfend atrfstart background bkmkend bkmkstart blipuid
        colorschememapping colortbl datafield datastore defchp defpap do ebcend ebcstart factoidname falt fchars
        ffdeftext ffentrymcr ffexitmcr ffformat ffhelptext ffl ffname ffstattext file filetbl fldtype fname fontemb
        fontfile fonttbl g generator gridtbl hl hlfr hlloc hlsrc hsv keycode latentstyles lchars levelnumbers
        leveltext lfolevel list listlevel listname listoverride listoverridetable listpicture liststylename listtable
        lsdlockedexcept mailmerge mmaddfieldname mmconnectstr mmconnectstrdata mmdatasource mmheadersource
        mmmailsubject mmodso mmodsofilter mmodsofldmpdata mmodsomappedname mmodsoname mmodsorecipdata mmodsosort
        mmodsosrc mmodsotable mmodsoudl mmodsoudldata mmodsouniquetag mmquery nesttableprops nextfile objalias
        objclass object objname objsect objtime oldcprops oldpprops oldsprops oldtprops oleclsid panose password
        passwordhash pgp pgptbl picprop pn pnseclvl pntxta pntxtb private protend protstart protusertbl pxe revtbl
        rsidtbl sn sp stylesheet sv svb template themedata wgrffmtfilter windowcaption writereservation
        writereservhash xmlattrname xmlattrvalue xmlclose xmlname xmlnstbl xmlopen""",
)
