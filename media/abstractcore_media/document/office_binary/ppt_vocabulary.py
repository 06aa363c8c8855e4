"""What the reader of PPT does with each record of a presentation (MS-PPT 2.13.24, MS-ODRAW 2.2)."""

from __future__ import annotations

from ..vocabularies import FormatVocabulary

PPT = FormatVocabulary(
    source="the records of MS-PPT, as Apache POI numbers them, and those of drawings in MS-ODRAW",
    read={
        "slides in their order, hidden ones too, with a mark": """
            Document SlideListWithText SlidePersistAtom Slide SlideAtom SlideShowSlideInfoAtom""",
        "titles, texts of shapes, tables, and WordArt": """
            Drawing DgContainer SpgrContainer SpContainer ClientTextbox ClientData TextHeaderAtom TextCharsAtom
            TextBytesAtom OutlineTextRefAtom""",
        "automatic numbers and bullets": "StyleTextProp9Atom TextMasterStyleAtom Environment MainMaster",
        "links": """
            ExternalHyperlink ExternalHyperlinkAtom InteractiveInfo InteractiveInfoAtom TextInteractiveInfoAtom
            CString""",
        "notes": "Notes NotesAtom",
        "comments": "Comment10 ProgTags ProgBinaryTag BinaryTagDataBlob",
        "pictures with their descriptions": "DrawingGroup DggContainer BStoreContainer FBSE",
        "files in objects": """
            ExternalObjectList ExternalOleEmbed ExternalOleObjectAtom ExternalOleObjectStg ExternalObjectRefAtom""",
    },
    converted={
        "raised and lowered words to Unicode": "StyleTextPropAtom",
        "numbers of slides, where a text names them": "SlideNumberMetaCharAtom",
        "headers, footers and texts behind all slides to [footer: ...] at the end": "HeadersFooters HeadersFootersAtom",
    },
    lost={
        "recordings": "recording",
        "form controls": "control",
        "embedded objects": "object",
        "charts": "chart",
        "hidden shapes": "hidden",
        "macros": "macros",
        "slides that are damaged": "damaged_slide",
        "tables, notes, comments and links of a damaged or old file": "damaged",
    },
    left_out={
        "handouts, layouts and shows": """
            Handout NamedShows NamedShow NamedShowSlidesAtom SlideShowDocInfoAtom SlideLayoutAtom""",
        "sounds of transitions and clicks": "Sound SoundCollection SoundCollectionAtom SoundDataBlob",
        "pictures that older programs show in place of objects": "MetaFile ExternalQuickTimeMovieData",
        "copies for newer programs": """
            RoundTripOriginalMainMasterId12Atom RoundTripContentMasterInfo12Atom RoundTripContentMasterId12Atom
            RoundTripOArtTextStyles12Atom RoundTripShapeCheckSumForCustomLayouts12Atom
            RoundTripNotesMasterTextStyles12Atom RoundTripCustomTableStyles12Atom RoundTripTheme12Atom
            RoundTripColorMapping12Atom RoundTripAnimation12Atom RoundTripAnimationHash12Atom
            RoundTripSlideSyncInfo12 RoundTripSlideSyncInfoAtom12 RoundTripDocFlags12Atom
            RoundTripHeaderFooterDefaults12Atom RoundTripShapeId12Atom""",
        "properties and views of the presentation": """
            Summary DocRoutingSlipAtom OutlineViewInfo SorterViewInfo SlideViewInfo SlideViewInfoAtom ViewInfo
            ViewInfoAtom GuideAtom NormalViewSetInfo9 NormalViewSetInfo9Atom NotesTextViewInfo9 PrintOptionsAtom
            PresentationAdvisorFlags9Atom HtmlDocInfo9Atom HtmlPublishInfoAtom HtmlPublishInfo9
            BroadcastDocInfo9 BroadcastDocInfo9Atom EnvelopeFlags9Atom EnvelopeData9Atom FilterPrivacyFlags10Atom
            DocToolbarStates10Atom PhotoAlbumInfo10Atom FontEmbedFlags10Atom CommentIndex10 CommentIndex10Atom
            LinkedShape10Atom LinkedSlide10Atom SlideFlags10Atom SlideTime10Atom DiffTree10 Diff10 Diff10Atom
            SlideListTableSize10Atom SlideListEntry10Atom SlideListTable10 CryptSession10 GridSpacing10Atom""",
    },
    properties="""
        AnimationInfo AnimationInfoAtom BlipCollection9 BlipEntity9Atom BookmarkCollection BookmarkEntityAtom
        BookmarkSeedAtom BuildAtom BuildList ChildAnchor ClientAnchor ColorSchemeAtom Comment10Atom ConnectorRule
        CurrentUserAtom DateTimeMetaCharAtom GenericDateMetaCharAtom HeaderMetaCharAtom FooterMetaCharAtom
        RtfDateTimeMetaCharAtom DefaultRulerAtom DocumentAtom EndDocumentAtom ExternalCdAudioAtom ExternalHyperlink9
        ExternalHyperlinkFlagsAtom ExternalMediaAtom ExternalObjectListAtom ExternalOleControlAtom ExternalOleEmbedAtom
        ExternalOleLinkAtom ExternalWavAudioEmbeddedAtom FDG FDGG FOPT FSP FSPGR FontCollection FontCollection10
        FontEmbedDataBlob FontEntityAtom GLPointAtom GRatioAtom GRColorAtom GScalingAtom Kinsoku KinsokuAtom List
        MasterTextPropAtom OutlineTextProps10 OutlineTextProps11 OutlineTextProps9 OutlineTextPropsHeader9Atom
        CharFormatAtom ParaFormatAtom PersistDirectoryAtom PersistDirectoryFullAtom PlaceholderAtom ProgStringTag
        RecolorInfoAtom RoundTripHFPlaceholder12Atom RoundTripNewPlaceholderId12Atom SecondaryFOPT ShapeAtom
        ShapeFlags10Atom SheetProperties SolverContainer
        SplitMenuColors StyleTextProp10Atom StyleTextProp11Atom TertiaryFOPT TextBookmarkAtom
        TextCharFormatExceptionAtom TextDefaults10Atom TextDefaults9Atom TextMasterStyle10Atom TextMasterStyle9Atom
        TextParagraphFormatExceptionAtom TextRulerAtom TextSpecialInfoAtom TextSpecialInfoDefaultAtom UserEditAtom
        VbaInfo VbaInfoAtom ParaBuild ParaBuildAtom LevelInfoAtom ChartBuild ChartBuildAtom DiagramBuild
        ExternalAviMovie ExternalCdAudio ExternalMciMovie ExternalMidiAudio ExternalOleControl ExternalOleLink
        ExternalQuickTimeMovie ExternalVideo ExternalWavAudioEmbedded ExternalWavAudioLink
        DiagramBuildAtom DeletedShapeAtom ColorMRU SlideTimePropertyList time:*""",
)
_TABLE = """
    1000 Document 1001 DocumentAtom 1002 EndDocumentAtom 1006 Slide 1007 SlideAtom 1008 Notes 1009 NotesAtom
    1010 Environment 1011 SlidePersistAtom 1015 SlideLayoutAtom 1016 MainMaster 1017 SlideShowSlideInfoAtom
    1018 SlideViewInfo 1019 GuideAtom 1020 ViewInfo 1021 ViewInfoAtom 1022 SlideViewInfoAtom 1023 VbaInfo
    1024 VbaInfoAtom 1025 SlideShowDocInfoAtom 1026 Summary 1030 DocRoutingSlipAtom 1031 OutlineViewInfo
    1032 SorterViewInfo 1033 ExternalObjectList 1034 ExternalObjectListAtom 1035 DrawingGroup 1036 Drawing
    1037 GridSpacing10Atom 1038 RoundTripTheme12Atom 1039 RoundTripColorMapping12Atom 1040 NamedShows 1041 NamedShow
    1042 NamedShowSlidesAtom 1043 NotesTextViewInfo9 1044 NormalViewSetInfo9 1045 NormalViewSetInfo9Atom
    1052 RoundTripOriginalMainMasterId12Atom 1054 RoundTripContentMasterInfo12Atom 1055 RoundTripShapeId12Atom
    1056 RoundTripHFPlaceholder12Atom 1058 RoundTripContentMasterId12Atom 1059 RoundTripOArtTextStyles12Atom
    1060 RoundTripHeaderFooterDefaults12Atom 1061 RoundTripDocFlags12Atom
    1062 RoundTripShapeCheckSumForCustomLayouts12Atom 1063 RoundTripNotesMasterTextStyles12Atom
    1064 RoundTripCustomTableStyles12Atom 2000 List 2005 FontCollection 2006 FontCollection10 2019 BookmarkCollection
    2020 SoundCollection 2021 SoundCollectionAtom 2022 Sound 2023 SoundDataBlob 2025 BookmarkSeedAtom
    2032 ColorSchemeAtom 2040 BlipCollection9 2041 BlipEntity9Atom 3009 ExternalObjectRefAtom 3011 PlaceholderAtom
    3024 GLPointAtom 3031 GRatioAtom 3035 ShapeAtom 3036 ShapeFlags10Atom 3037 RoundTripNewPlaceholderId12Atom
    3998 OutlineTextRefAtom 3999 TextHeaderAtom 4000 TextCharsAtom 4001 StyleTextPropAtom 4002 MasterTextPropAtom
    4003 TextMasterStyleAtom 4004 TextCharFormatExceptionAtom 4005 TextParagraphFormatExceptionAtom 4006 TextRulerAtom
    4007 TextBookmarkAtom 4008 TextBytesAtom 4009 TextSpecialInfoDefaultAtom 4010 TextSpecialInfoAtom
    4011 DefaultRulerAtom 4012 StyleTextProp9Atom 4013 TextMasterStyle9Atom 4014 OutlineTextProps9
    4015 OutlineTextPropsHeader9Atom 4016 TextDefaults9Atom 4017 StyleTextProp10Atom 4018 TextMasterStyle10Atom
    4019 OutlineTextProps10 4020 TextDefaults10Atom 4021 OutlineTextProps11 4022 StyleTextProp11Atom 4023 FontEntityAtom
    4024 FontEmbedDataBlob 4026 CString 4033 MetaFile 4035 ExternalOleObjectAtom 4040 Kinsoku 4041 Handout
    4044 ExternalOleEmbed 4045 ExternalOleEmbedAtom 4046 ExternalOleLink 4048 BookmarkEntityAtom
    4049 ExternalOleLinkAtom 4050 KinsokuAtom 4051 ExternalHyperlinkAtom 4055 ExternalHyperlink
    4056 SlideNumberMetaCharAtom 4057 HeadersFooters 4058 HeadersFootersAtom 4063 TextInteractiveInfoAtom
    4066 CharFormatAtom 4067 ParaFormatAtom 4068 ExternalHyperlink9 4071 RecolorInfoAtom 4074 ExternalQuickTimeMovie
    4075 ExternalQuickTimeMovieData 4078 ExternalOleControl 4080 SlideListWithText 4081 AnimationInfoAtom
    4082 InteractiveInfo 4083 InteractiveInfoAtom 4085 UserEditAtom 4086 CurrentUserAtom 4087 DateTimeMetaCharAtom
    4088 GenericDateMetaCharAtom 4089 HeaderMetaCharAtom 4090 FooterMetaCharAtom 4091 ExternalOleControlAtom
    4100 ExternalMediaAtom 4101 ExternalVideo 4102 ExternalAviMovie 4103 ExternalMciMovie 4109 ExternalMidiAudio
    4110 ExternalCdAudio 4111 ExternalWavAudioEmbedded 4112 ExternalWavAudioLink 4113 ExternalOleObjectStg
    4114 ExternalCdAudioAtom 4115 ExternalWavAudioEmbeddedAtom 4116 AnimationInfo 4117 RtfDateTimeMetaCharAtom
    4120 ExternalHyperlinkFlagsAtom 5000 ProgTags 5001 ProgStringTag 5002 ProgBinaryTag 5003 BinaryTagDataBlob
    6000 PrintOptionsAtom 6001 PersistDirectoryFullAtom 6002 PersistDirectoryAtom 6010 PresentationAdvisorFlags9Atom
    6011 HtmlDocInfo9Atom 6012 HtmlPublishInfoAtom 6013 HtmlPublishInfo9 6014 BroadcastDocInfo9
    6015 BroadcastDocInfo9Atom 6020 EnvelopeFlags9Atom 6021 EnvelopeData9Atom 10001 GScalingAtom 10002 GRColorAtom
    11000 ColorMRU 11008 DeletedShapeAtom 11010 RoundTripAnimation12Atom 11011 RoundTripAnimationHash12Atom
    11031 SlideFlags10Atom 12000 Comment10 12001 Comment10Atom 12004 CommentIndex10 12005 CommentIndex10Atom
    12006 LinkedShape10Atom 12007 LinkedSlide10Atom 12010 SlideFlags10Atom 12011 SlideTime10Atom 12012 DiffTree10
    12013 Diff10 12014 Diff10Atom 12015 SlideListTableSize10Atom 12016 SlideListEntry10Atom 12017 SlideListTable10
    12052 CryptSession10 14000 FontEmbedFlags10Atom 14001 FilterPrivacyFlags10Atom 14002 DocToolbarStates10Atom
    14003 PhotoAlbumInfo10Atom 14100 RoundTripSlideSyncInfo12 14101 RoundTripSlideSyncInfoAtom12
    61440 DggContainer 61441 BStoreContainer 61442 DgContainer 61443 SpgrContainer 61444 SpContainer
    61445 SolverContainer 61446 FDGG 61447 FBSE 61448 FDG 61449 FSPGR 61450 FSP 61451 FOPT 61453 ClientTextbox
    61455 ChildAnchor 61456 ClientAnchor 61457 ClientData 61458 ConnectorRule 61726 SplitMenuColors
    61729 SecondaryFOPT 61730 TertiaryFOPT"""
_FIRST_OF_TIMES, _LAST_OF_TIMES = 61733, 61765
"""Records of animations."""


def _kinds() -> dict[int, str]:
    words = _TABLE.split()
    times = {number: f"time:{number}" for number in range(_FIRST_OF_TIMES, _LAST_OF_TIMES + 1)}
    return {**times, **{int(number): name for number, name in zip(words[::2], words[1::2], strict=True)}}


KINDS = _kinds()
"""The names of records by their numbers."""
