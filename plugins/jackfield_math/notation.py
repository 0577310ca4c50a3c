"""What people write as a final answer, as LaTeX in one spelling: delimiters off, Unicode to commands, plain text to LaTeX. No parsing here."""

from __future__ import annotations

import re
import unicodedata

from attrs import frozen

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
SYMBOLS = {
    "−": "-", "–": "-", "‐": "-", "‑": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ", "÷": "/", "⁄": "/", "∕": "/",
    "±": r"\pm ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∞": r"\infty ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ",
    "∅": r"\emptyset ", "°": r"^{\circ}", "％": r"\%", "π": r"\pi ", "𝜋": r"\pi ", "ℝ": r"\mathbb{R}", "′": "'",
    "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\epsilon ", "θ": r"\theta ", "λ": r"\lambda ",
    "μ": r"\mu ", "ρ": r"\rho ", "σ": r"\sigma ", "τ": r"\tau ", "φ": r"\phi ", "ω": r"\omega ",
}  # fmt: skip
"""Characters that have a LaTeX spelling; what NFKC does to the rest is enough."""

DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"), ("`", "`"))
SPACES = re.compile(r"\\[,;:! ]|\\quad|\\qquad|~|\\displaystyle|\\left|\\right|\\limits|\s+")
TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
PLAIN_FUNCTION = re.compile(
    r"(?<![\\A-Za-z])(arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln|exp|pi|infty|theta|alpha|beta)(?![A-Za-z])"
)
WORD = re.compile(r"(?<![\\A-Za-z])(?!(?:and|or)(?![A-Za-z]))[^\W\d_]{3,}")
NUMBER = r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)"
NAMED = re.compile(r"\\(?:begin|end|operatorname)\s*\{[A-Za-z*]+\}")
"""Words that belong to a command."""
SHORT_UNITS = "mm|cm|dm|km|mg|kg|ml|mL|ft|in|lb|oz|hr|m|g|s|l|L|h"
"""Other short words behind a value are symbols: ``5 xy`` is no quantity."""
UNIT = rf"(?!and\b|or\b)(?:[A-Za-z]{{3,}}(?: [A-Za-z]{{2,}}){{0,2}}|{SHORT_UNITS})(?:\s*/\s*(?:[A-Za-z]{{3,}}|{SHORT_UNITS}))?"
QUANTITY = re.compile(
    rf"(?P<value>{NUMBER}|.*[\d}})])(?:\s*\\(?:text|textrm|mathrm|mbox)\s*\{{\s*(?P<set>[A-Za-z][A-Za-z ./]*)\}}|\s+(?P<plain>{UNIT}))"
    r"\s*(?:\^\s*\{?(?P<power>[23])\}?)?",
    re.DOTALL,
)
MISREAD = re.compile(r"(?<![\d_^.])\d+(?:\.\d+)?\s+\d|\\l?dots|\\cdots|\.\.\.|…")
"""Two numbers side by side (a parser adds or multiplies them) and lists that go on (a parser drops the dots): not one value."""


@frozen(kw_only=True)
class Written:
    """An answer as it was written. Exactly one of ``latex`` and ``words`` is not empty, unless nothing was written.

    Example: ``read("2√5 cm")`` is ``Written(latex="2\\sqrt{5}", unit="cm")``
    """

    latex: str = ""
    words: str = ""
    """Text that is no mathematics, in lower case."""
    unit: str = ""
    """What stood behind the value; not part of ``latex``."""

    @property
    def has_decimals(self) -> bool:
        """It holds a decimal fraction, so that it may be a rounded value."""
        return re.search(r"\d?\.\d", self.latex) is not None


def read(text: str) -> Written:
    """``text`` in one spelling. White space, ``$…$`` and other delimiters around all of it, and a full stop at its end do not count.

    - Unicode: minus signs, ``√``, ``π``, ``×``, superscripts, vulgar fractions, full-width digits … are their LaTeX commands.
    - ``28 %``, ``28 percent`` and ``28\\%`` are one spelling.
    - Between groups of three digits a comma or a space separates thousands (``115,000``, ``115 000``); ``12,34`` is two numbers.
    - ``1e5`` is ``1 × 10^5``, ``2**10`` is ``2^{10}``, ``3 1/2`` is a mixed number.
    - ``\\text{13}`` is ``13``; a unit after a value (``5 cm``, ``5\\text{ cm}^2``) is taken off; other words make it text.
    """
    spelt = _undelimited(_ascii(text))
    spelt = re.sub(r"\s*(?:\\?%|\bper\s?cent\b|\bpercentage\b|\bpct\b)", r"\\%", spelt, flags=re.IGNORECASE)
    spelt = SPACES.sub(" ", spelt).strip()
    spelt = re.sub(r"^([-+]?)\s*(?:\\\$|[$€£¥])\s*", r"\1", spelt)
    value, unit = _without_unit(spelt)
    value = TEXT.sub(lambda found: f" {found[1]} ", value).strip()
    value = PLAIN_FUNCTION.sub(r"\\\1 ", _roots(_plain_numbers(value)))
    if WORD.search(NAMED.sub(" ", value)):
        return Written(words=" ".join(f"{value} {unit}".lower().split()))
    return Written(latex=value, unit=unit)


def is_misread(latex: str) -> bool:
    """Whether a parser would read something else out of it than is written."""
    return MISREAD.search(latex) is not None


def _ascii(text: str) -> str:
    """Unicode's mathematics as LaTeX. Superscripts and fractions first: NFKC would make ``x²`` to ``x2`` and ``3½`` to ``31/2``."""
    text = re.sub(f"[{''.join(SUPERSCRIPTS)}]+", lambda run: "^{" + "".join(SUPERSCRIPTS[c] for c in run[0]) + "}", text)
    text = "".join(_fraction(character) for character in text)
    text = re.sub(r"√\s*(\d+(?:\.\d+)?|[A-Za-z]|\([^()]*\)|\{[^{}]*\})", lambda found: rf"\sqrt{{{_inside(found[1])}}}", text)
    text = "".join(SYMBOLS.get(character, character) for character in text)
    return unicodedata.normalize("NFKC", text)


def _inside(group: str) -> str:
    return group[1:-1] if group[0] in "({" else group


def _fraction(character: str) -> str:
    if "VULGAR FRACTION" not in unicodedata.name(character, ""):
        return character
    top, _, bottom = unicodedata.normalize("NFKC", character).partition("⁄")
    return rf"\frac{{{top}}}{{{bottom}}}"


def _roots(text: str) -> str:
    """``sqrt(…)`` as ``\\sqrt{…}``, also one within another; a parenthesis that never closes is left for the parser to refuse."""
    while (found := re.search(r"\\?sqrt\s*\(", text)) is not None:
        depth, end = 1, found.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if depth:
            break
        text = f"{text[: found.start()]}\\sqrt{{{text[found.end() : end - 1]}}}{text[end:]}"
    return text


def _undelimited(text: str) -> str:
    text = text.strip()
    while True:
        stripped = re.sub(r"(?<=[^.])\.$", "", text).strip()
        for opening, closing in DELIMITERS:
            inside = stripped[len(opening) : -len(closing)]
            if stripped == f"{opening}{inside}{closing}" and inside.strip() and closing not in inside.replace(r"\$", ""):
                stripped = inside.strip()
        if stripped == text:
            return text
        text = stripped


def _without_unit(text: str) -> tuple[str, str]:
    """The value, and the unit in lower case and the singular."""
    found = QUANTITY.fullmatch(text)
    unit = "" if found is None else (found["set"] or found["plain"]).strip().lower()
    if found is None or unit in ("", "and", "or", "i", "e"):
        return text, ""
    return found["value"].strip(), re.sub(r"(?<=\w{3})s\b", "", unit) + (found["power"] or "")


def _plain_numbers(text: str) -> str:
    """How numbers are written outside LaTeX."""
    text = text.replace("**", "^")
    text = re.sub(r"\^\s*(-?\d+)", r"^{\1}", text)
    if re.fullmatch(r"[-+]?\d{1,3}( \d{3})+(\.\d+)?", text):
        text = text.replace(" ", "")
    if mixed := re.fullmatch(r"([-+]?)(\d+) (\d+)\s*/\s*(\d+)", text):
        text = rf"{mixed[1]}({mixed[2]}+\frac{{{mixed[3]}}}{{{mixed[4]}}})"
    return re.sub(r"(?<![\w\\])(\d+(?:\.\d+)?)[eE]([-+]?\d{1,4})(?!\w)", r"\1\\times 10^{\2}", text)
