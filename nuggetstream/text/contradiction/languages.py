"""What the rules know of each language: function words, negations and words for numbers.

Six languages have rules: English, German, French, Spanish, Russian and Chinese. In other languages numbers in
digits, dates in digits and units are compared, and negations are not.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

CHINESE, GERMAN = "zh", "de"


@dataclass(frozen=True, slots=True, eq=False)  # each language is one object
class Language:
    """The words of one language.

    Attributes:
        code: BCP 47 code; "und" for a language without rules.
        function: Words that say nothing about what a sentence is about.
        negation: Expression of a negation; None where the language has no rules.
        no_negation: Expression of phrases that contain such a word and negate nothing, such as "not only".
        unclear: Expression of phrases after which the polarity is not known, such as "not all".
        opposite: Expression of a prefix or word that turns "possible" into its opposite.
        concord: Whether several negations in a clause are one ("no ... nunca").
        numbers: Numbers by their word.
    """

    code: str
    function: frozenset[str]
    negation: re.Pattern[str] | None
    no_negation: re.Pattern[str] | None
    unclear: re.Pattern[str] | None
    opposite: re.Pattern[str] | None
    concord: bool
    numbers: Mapping[str, int]


def _numbers(words: str, tens: str) -> Mapping[str, int]:
    """Two to twenty in order, then 30 to 90; alternatives are joined by a slash."""
    small = {name: n for n, names in enumerate(words.split(), 2) for name in names.split("/")}
    return small | {name: 10 * n for n, names in enumerate(tens.split(), 3) for name in names.split("/")}


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _words(expression: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{expression})\b")


_ENGLISH = Language(
    code="en",
    function=_listed(
        "the a an of to in on at by for from with as is are was were be been being has have had do "
        "does did and or but that which who this these those it its their his her they he she there "
        "will would can could may might should about approximately roughly around some also only just "
        "into over under than then so up per each every during while when if more most such"
    ),
    negation=_words(r"not|never|no|none|cannot|without|neither|\w+n['’]t"),
    no_negation=_words(
        r"(?:not|n['’]t) (?:only|just|merely|simply)|(?:not|no) (?:more|less|fewer|later|earlier) "
        r"than|no doubt"
        r"|whether or not|if not"
    ),
    unclear=_words(
        r"(?:not|n['’]t) (?:all|always|every|everyone|necessarily|yet|both|entirely|fully|until)|no longer"
    ),
    opposite=_words(r"im(?=possible)|in(?=effective|sufficient)|un(?=safe|able|likely|necessary)"),
    concord=False,
    numbers=_numbers(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen "
        "eighteen nineteen twenty",
        "thirty forty fifty sixty seventy eighty ninety",
    ),
)
_GERMAN = Language(
    code=GERMAN,
    function=_listed(
        "der die das den dem des ein eine einen einem einer eines und oder aber in im am an auf von "
        "vom zu zum zur für mit aus bei nach seit vor ist sind war waren wird werden wurde wurden hat "
        "haben hatte sich es er sie man dass so wäre also auch nur rund etwa circa ungefähr über "
        "unter als wie pro je sondern beträgt kann können muss müssen mehr durch"
    ),
    negation=_words("nicht|kein|keine|keinen|keinem|keiner|keines|nie|niemals|ohne|weder"),
    no_negation=_words("nicht (?:nur|bloß|allein|mehr als|weniger als)"),
    unclear=_words("nicht (?:alle|allen|immer|jede|jeder|jedes|unbedingt|zwangsläufig|mehr|ganz)"),
    opposite=_words("un(?=möglich|sicher|geeignet|nötig|wirksam)"),
    concord=False,
    numbers=_numbers(
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
        "sechzehn siebzehn "
        "achtzehn neunzehn zwanzig",
        "dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    ),
)
_FRENCH = Language(
    code="fr",
    function=_listed(
        "le la les un une des du de d l et ou mais en dans sur à au aux par pour avec est sont était "
        "étaient a ont été être il elle ils elles on se s ce cette ces son sa ses qui que qu dont "
        "environ plus moins aussi entre y"
    ),
    negation=re.compile(r"\bne\b|\bn['’](?=\w)|\bsans\b|\bni\b|\baucune?\b|\bjamais\b|\bpas\b"),
    no_negation=re.compile(
        r"\b(?:ne|n['’])\W?(?:(?!\b(?:pas|jamais|plus|aucune?|rien)\b)[^,;.]){1,30}\bqu(?:e\b|['’])"
        r"|\b(?:ne|n['’])[^,;.]{1,20}\bpas (?:seulement|que)\b|\bnon seulement\b|\bpas moins de\b"
        r"|\bpas plus de\b"
    ),
    unclear=_words("pas (?:tous|toutes|toujours|nécessairement|forcément)|(?:ne|n['’]\\w+)[^,;.]{0,20} plus"),
    opposite=_words("im(?=possible)|in(?=suffisant|efficace|utile)"),
    concord=True,
    numbers=_numbers(
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
        "dix-sept dix-huit "
        "dix-neuf vingt",
        "trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix",
    ),
)
_SPANISH = Language(
    code="es",
    function=_listed(
        "el la los las un una unos unas de del al y o pero en por para con a es son era eran fue "
        "fueron está están ha han ser se su sus lo que como más menos también solo sólo cerca entre "
        "sobre unas aproximadamente"
    ),
    negation=_words("no|nunca|jamás|sin|ningún|ninguna|ninguno|tampoco"),
    no_negation=_words("no (?:solo|sólo|solamente|más de|menos de)|sin embargo|sin duda"),
    unclear=_words("no (?:todos|todas|siempre|necesariamente)|ya no"),
    opposite=_words("im(?=posible)|in(?=suficiente|eficaz|útil)"),
    concord=True,
    numbers=_numbers(
        "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
        "diecisiete "
        "dieciocho diecinueve veinte",
        "treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    ),
)
_RUSSIAN = Language(
    code="ru",
    function=_listed(
        "и в во на с со к по за из от до для о об у при что как это его её их он она они но а же бы "
        "был была было были есть около примерно более менее также только году года лет до над"
    ),
    negation=_words("не|нет|нельзя|никогда|ни|без"),
    no_negation=_words("не (?:только|просто|менее|более|меньше|больше|раньше|позднее|позже)"),
    unclear=_words("не (?:все|всегда|каждый|обязательно)|больше не"),
    opposite=_words("не(?=возможн|достаточн|эффективн|безопасн)"),
    concord=True,
    numbers=_numbers(
        "два/две/двух/двое три/трёх/трех/трое четыре/четырёх/четырех пять/пяти шесть/шести семь/семи "
        "восемь/восьми девять/девяти десять/десяти одиннадцать/одиннадцати двенадцать/двенадцати "
        "тринадцать/тринадцати четырнадцать/четырнадцати пятнадцать/пятнадцати шестнадцать/шестнадцати "
        "семнадцать/семнадцати восемнадцать/восемнадцати девятнадцать/девятнадцати двадцать/двадцати",
        "тридцать/тридцати сорок/сорока пятьдесят/пятидесяти шестьдесят/шестидесяти семьдесят/семидесяти "
        "восемьдесят/восьмидесяти девяносто/девяноста",
    ),
)
_CHINESE_RULES = Language(
    code=CHINESE,
    function=frozenset("的是了在为约有也和与及而但共大着过就都被把"),
    negation=re.compile("[不没未非无]|并非|没有"),
    no_negation=re.compile("不[仅但只过同断少管论久止足]|非常|无论|没多久|未来|不低于|不超过|不少于"),
    unclear=re.compile("不一定|不都|不全|未必|不再|不总"),
    opposite=None,
    concord=False,
    numbers={},
)
UNKNOWN = Language(
    code="und",
    function=frozenset(),
    negation=None,
    no_negation=None,
    unclear=None,
    opposite=None,
    concord=False,
    numbers={},
)

_LATIN = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH)
_CYRILLIC, _HAN, _KANA = re.compile("[а-яё]"), re.compile("[\u4e00-\u9fff]"), re.compile("[\u3040-\u30ff]")
_ELSE = re.compile("[іїєґ]|[\uac00-\ud7af]")  # other languages of these scripts
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=1024)  # a claim is compared with several sentences, one after the other
def language_of(text: str) -> Language:
    """The language of a text, by its script and its function words; `UNKNOWN` where none of the six fits.

    >>> language_of("Der Turm ist 300 Meter hoch.").code, language_of("塔高300米").code
    ('de', 'zh')
    """
    text = text.casefold()
    if _KANA.search(text) or _ELSE.search(text):
        return UNKNOWN
    if _HAN.search(text):
        return _CHINESE_RULES
    if _CYRILLIC.search(text):
        return _RUSSIAN
    words = _WORD.findall(text)
    count, _, language = max(
        (sum(map(each.function.__contains__, words)), -place, each) for place, each in enumerate(_LATIN)
    )
    return language if count else UNKNOWN
