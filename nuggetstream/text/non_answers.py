"""Sentences in which an author only says that they do not know or cannot help: they state nothing."""

import re

_KNOWS_NOT = re.compile(
    r"""(?:(?:(?:i\ am|i'm)\ (?:so\ |very\ )?)?(?:sorry|afraid)|unfortunately|i\ apologi[sz]e|leider
    |tut\ mir\ leid|as\ an\ ai(?:\ (?:language\ )?model|\ assistant)?
    |désolée?|lo\ siento|mi\ dispiace|but|aber|mais|pero|ma|[,.!\s])*
    (?:$
    |(?:i|we)\ (?:do\ not|don't|cannot|can\ not|can't|could\ not|couldn't)
      \ (?:know|say|tell|answer|help|assist|find|provide|confirm)\b
    |(?:i\ am|i'm|we\ are|we're)\ (?:not\ sure|unsure|unable\ to|not\ able\ to)\b
    |(?:i|we)\ (?:have\ no|do\ not\ have\ any|don't\ have\ any)\ (?:idea|information|answer)\b|no\ idea\b
    |(?:i|we)\ (?:do\ not|don't)\ have\ (?:access|enough|sufficient)\b|not\ sure\b
    |(?:ich|wir)\ (?:weiß|weiss|wissen|kann|können)\b[^,;:]*\bnicht\b|keine\ ahnung\b
    |(?:je|nous)\ ne\ (?:sais|savons|peux|pouvons)\ pas\b|aucune\ idée\b
    |no\ (?:lo\ )?(?:sé|sabemos|puedo|podemos)\b
    |non\ (?:lo\ )?(?:so|sappiamo|posso|possiamo)\b
    |(?:eu\ )?não\ (?:sei|sabemos|posso|podemos)\b
    |(?:ik|wij)\ (?:weet|weten|kan|kunnen)\b[^,;:]*\bniet\b
    |(?:я|мы)\ не\ (?:знаю|знаем|могу|можем)\b
    |我(?:不知道|不清楚|无法)|わかりません|分かりません|知りません)""",
    re.I | re.X,
)
_QUESTION = r"who|what|when|where|which|why|how|whether|if|wer|was|wann|wo|welche\w*|warum|wie|ob"
_GOES_ON = re.compile(
    rf"[;:–—\uff0c\uff1b\uff1a]|,(?!\s*(?:{_QUESTION})\b)|\b(?:but|however|aber|jedoch|mais|pero)\b", re.I
)


def is_non_answer(sentence: str) -> bool:
    """Whether a sentence says no more than that its author does not know or cannot answer.

    English, German, French, Spanish, Italian, Portuguese, Dutch, Russian, Chinese and Japanese are read. A
    sentence that goes on after such an opening may state something, so it is not taken for one.

    >>> is_non_answer("I do not know who won."), is_non_answer("Sorry, I can't help with that.")
    (True, True)
    >>> is_non_answer("I do not know the year, but Brazil won."), is_non_answer("Experts do not know why.")
    (False, False)
    """
    words = " ".join(sentence.replace("’", "'").split())
    opening = _KNOWS_NOT.match(words)
    return opening is not None and _GOES_ON.search(words, opening.end()) is None
