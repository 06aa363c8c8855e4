# ruff: noqa: RUF001
"""The characters of equations, and what LaTeX calls them."""

from __future__ import annotations

_NAMED = """
α alpha β beta γ gamma δ delta ϵ epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho σ sigma
τ tau υ upsilon ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi
Ω Omega ε varepsilon ϑ vartheta ϖ varpi ϱ varrho ς varsigma φ varphi ± pm ∓ mp × times ÷ div ⋅ cdot ∗ ast ⋆ star
∘ circ ∙ bullet ⊕ oplus ⊖ ominus ⊗ otimes ⊘ oslash ⊙ odot ∩ cap ∪ cup ⊎ uplus ⊓ sqcap ⊔ sqcup ∨ vee ∧ wedge
∖ setminus † dagger ‡ ddagger ≤ leq ≥ geq ≠ neq ≡ equiv ≈ approx ≅ cong ∼ sim ≃ simeq ≪ ll ≫ gg ∝ propto ∥ parallel
⊥ perp ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∈ in ∋ ni ∉ notin ≺ prec ≻ succ ⊢ vdash ⊨ models ∣ mid ← leftarrow
→ rightarrow ↔ leftrightarrow ⇐ Leftarrow ⇒ Rightarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow ↓ downarrow
⟵ longleftarrow ⟶ longrightarrow ⟷ longleftrightarrow ⟸ Longleftarrow ⟹ Longrightarrow ⟺ Longleftrightarrow
↪ hookrightarrow ⇌ rightleftharpoons ∞ infty ∂ partial ∇ nabla ∅ emptyset ∀ forall ∃ exists ¬ neg ℏ hbar ℓ ell ℜ Re
ℑ Im ℵ aleph … ldots ⋯ cdots ⋮ vdots ⋱ ddots ∠ angle △ triangle □ square ⟨ langle ⟩ rangle ⌈ lceil ⌉ rceil ⌊ lfloor
⌋ rfloor ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋂ bigcap ⋃ bigcup ⋁ bigvee ⋀ bigwedge ⨁ bigoplus
⨂ bigotimes ⨀ bigodot \\ backslash ~ sim
"""
_ACCENT_NAMES = """
\u0300 grave ` grave \u0301 acute ´ acute \u0302 hat ^ hat ˆ hat \u0303 tilde ~ tilde ˜ tilde \u0304 bar \u0305 overline
¯ bar ‾ overline ― overline \u0306 breve ˘ breve \u0307 dot ˙ dot \u0308 ddot ¨ ddot \u030c check ˇ check
\u030a mathring \u20d7 vec → vec \u20d6 overleftarrow \u0332 underline _ underline ⏞ overbrace ⏟ underbrace \u20db dddot
"""


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


COMMANDS = {
    **{character: f"\\{name}" for character, name in _pairs(_NAMED).items()},
    **{character: f"\\mathbb{{{letter}}}" for character, letter in zip("ℝℕℤℚℂℙℍ", "RNZQCPH", strict=True)},
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", ""),
    **{character: f"\\{character}" for character in "{}#%&_$"},
    "−": "-", "‖": "\\|", "°": "^{\\circ}", "′": "'", "″": "''", "‴": "'''", "\u00a0": "~", "\u2009": "\\,",
    "\u2003": "\\quad", "^": "\\hat{}",
}  # fmt: skip
"""What a character is in a formula."""

ACCENTS = _pairs(_ACCENT_NAMES)
LINES = frozenset("_¯‾―\u0332\u0305\u0304")
"""Accents that are a line, above or below."""

FENCES = {"{": "\\{", "}": "\\}", "": ".", "〈": "\\langle", "〉": "\\rangle", "∥": "\\|"}
BRACES = frozenset("⏞⏟")
LARGE = frozenset("∑∏∐∫∬∭∮⋂⋃⋁⋀⨁⨂⨀")
LARGE_COMMANDS = frozenset(COMMANDS[character] for character in LARGE)
STYLES = {
    "SCRIPT": "mathcal", "FRAKTUR": "mathfrak", "BLACK-LETTER": "mathfrak", "DOUBLE-STRUCK": "mathbb",
    "SANS-SERIF": "mathsf", "MONOSPACE": "mathtt", "BOLD ITALIC": "boldsymbol", "BOLD": "mathbf",
}  # fmt: skip
"""Commands of styles by words in the names of characters."""
_FUNCTION_NAMES = """
arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min Pr
sec sin sinh sup tan tanh
"""
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
