r"""Formulas in answers as readable text: TeX commands become the signs that they mean.

    \frac{a}{b} \le x^2   ->   (a)/(b) ≤ x²

This is no typesetting, and stands where `mathml` does not know a formula. What is not known here either
stays as it was written.
"""

import re

_TABLE = """
alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ
nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ
Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω times × cdot · div ÷ pm ±
mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ propto ∝ infty ∞
partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ to → rightarrow → leftarrow ← Rightarrow ⇒ in ∈ notin ∉ subset ⊂
cup ∪ cap ∩ forall ∀ exists ∃ ldots … cdots ⋯ dots … degree ° circ ∘ sqrt √
ll ≪ gg ≫ cong ≅ simeq ≃ mid ∣ parallel ∥ perp ⊥ angle ∠ emptyset ∅ varepsilon ε varphi φ
hbar ℏ ell ℓ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lvert | rvert | supset ⊃ subseteq ⊆
supseteq ⊇ setminus ∖ land ∧ lor ∨ wedge ∧ vee ∨ neg ¬ implies ⟹ iff ⟺ mapsto ↦ Leftarrow ⇐ Leftrightarrow ⇔
leftrightarrow ↔ longrightarrow ⟶ uparrow ↑ downarrow ↓ prime ′ ast ∗ star ⋆ oplus ⊕ otimes ⊗ bullet •
iint ∬ oint ∮ bigcup ⋃ bigcap ⋂ vdots ⋮ ddots ⋱ because ∵ therefore ∴ colon :
"""
SIGNS = dict(zip(_TABLE.split()[::2], _TABLE.split()[1::2], strict=True))
SIGNS |= dict.fromkeys(("left", "right", "displaystyle", "mathrm", "text", "mathbf", "operatorname"), "")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]{1,200})\}\s*\{([^{}]{1,200})\}")
_COMMAND = re.compile(r"\\([A-Za-z]+)\s?")
_RAISED = re.compile(r"\^(?:\{([0-9n+\-]{1,9})\}|([0-9n]))")
_LOWERED = re.compile(r"_(?:\{([0-9+\-]{1,9})\}|([0-9]))")
_SUPERSCRIPTS = str.maketrans("0123456789n+-", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁺⁻")
_SUBSCRIPTS = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")


def readable(tex: str) -> str:
    r"""A formula as text.

    >>> readable(r"E = \frac{1}{2} m v^2 \le 10^{-3} x_1")
    'E = (1)/(2) m v² ≤ 10⁻³ x₁'
    """
    text = _FRACTION.sub(r"(\1)/(\2)", tex)
    text = _RAISED.sub(lambda found: (found[1] or found[2]).translate(_SUPERSCRIPTS), text)
    text = _LOWERED.sub(lambda found: (found[1] or found[2]).translate(_SUBSCRIPTS), text)
    text = _COMMAND.sub(_sign, text)
    return text.strip()


def _sign(command: re.Match[str]) -> str:
    sign = SIGNS.get(command[1])
    if sign is None:
        return command[0]
    return sign + (" " if sign and command[0][-1].isspace() else "")
