"""Codes of languages: tracks of videos have three letters, models of speech two. Data only."""

from __future__ import annotations

_CODES = """
af afr, am amh, ar ara, as asm, az aze, be bel, bg bul, bn ben, bo tib bod, br bre, bs bos, ca cat, cs cze
ces, cy wel cym, da dan, de ger deu, el gre ell, en eng, es spa, et est, eu baq eus, fa per fas, fi fin, fo
fao, fr fre fra, ga gle, gl glg, gu guj, ha hau, he heb, hi hin, hr hrv, ht hat, hu hun, hy arm hye, id ind,
is ice isl, it ita, ja jpn, jw jv jav, ka geo kat, kk kaz, km khm, kn kan, ko kor, la lat, lb ltz, ln lin, lo
lao, lt lit, lv lav, mg mlg, mi mao mri, mk mac mkd, ml mal, mn mon, mr mar, ms may msa, mt mlt, my bur mya,
ne nep, nl dut nld, nn nno, no nor nb nob, oc oci, pa pan, pl pol, ps pus, pt por, ro rum ron, ru rus, sa san,
sd snd, si sin, sk slo slk, sl slv, sn sna, so som, sq alb sqi, sr srp, su sun, sv swe, sw swa, ta tam, te
tel, tg tgk, th tha, tk tuk, tl tgl fil, tr tur, tt tat, uk ukr, ur urd, uz uzb, vi vie, yi yid, yo yor, zh
chi zho cmn
"""
_BY_CODE = {code: codes.split()[0] for codes in _CODES.split(",") for code in codes.split()}
_UNKNOWN = frozenset({"und", "mis", "mul", "zxx", "unk"})


def language_code(tag: str) -> str:
    """Returns the code that speech models use for a language tag, such as "en" for "eng" and "en-US"; the tag's own
    code for others, and "" where the language is not known.
    """
    code = tag.lower().replace("_", "-").partition("-")[0].strip()
    return "" if code in _UNKNOWN or not code.isalpha() else _BY_CODE.get(code, code[:3])
