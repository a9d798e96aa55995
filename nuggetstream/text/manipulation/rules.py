"""The rules: expressions of eight languages, each with the words without which it cannot match.

They are matched against a normalised text, in lower case. Repetitions are bounded, so that matching takes
time proportional to the length of a text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to influence an evaluation.

    Attributes:
        name: What was found, such as "addresses_grader".
        confidence: How certain a match is an attempt to influence the evaluation, 0 to 1, by our judgement.
        words: Substrings of which a text must contain one; checked first, because that is cheap.
        pattern: The expression.
        least: Number of matches from which on they count.
        in_code: Whether it is as telling in code, where texts about language models show such things.
    """

    name: str
    confidence: float
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    least: int = 1
    in_code: bool = False


IGNORE, ADDRESS, DEMAND, VERDICT = "ignores_instructions", "addresses_grader", "asks_for_grade", "verdict"
REPLY, DELIMITER, ROLE, HIDDEN = "fake_reply", "fake_delimiter", "role_token", "hidden_text"
NAMES = (IGNORE, ADDRESS, DEMAND, VERDICT, REPLY, DELIMITER, ROLE, HIDDEN)


def _rule(name: str, confidence: float, words: str, *patterns: str, least: int = 1) -> Rule:
    return Rule(
        name=name,
        confidence=confidence,
        words=tuple(words.split("|")),
        pattern=_any(patterns),
        least=least,
    )


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.MULTILINE)


_GRADER = (
    r"(?:(?:ai|llm|human|impartial|automatic) ){0,2}(?:judge|grader|evaluator|rater|assessor|annotator)s?"
)
_THIS = r"(?:this|my|our|the (?:first|second|left|right))"
_ANSWER = r"(?:answer|response|reply|text|system|page|document)"
_UP_TO_4 = r"(?:[\w'-]+ ){0,4}?"
_TOP = r"(?:highest|maximum|full|perfect|top|best)"

RULES: tuple[Rule, ...] = (
    _rule(
        IGNORE, 0.9, "instruction|prompt|rules|guidelines|directions|criteria|rubric",
        r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|of|the|your|these|my)\s+){0,4}"
        r"(?:previous|prior|above|earlier|preceding|foregoing|system|other)\s+(?:\w+\s+){0,2}?"
        r"(?:instructions?|prompts?|rules|guidelines|directions|criteria)\b",
        r"\b(?:ignore|disregard|forget)\s+(?:(?:all|any|of|the|your|these)\s+){1,4}(?:\w+\s+)?"
        r"(?:instructions?|rules|guidelines|criteria)\s+(?:above|before|given|you)\b",
        r"\b(?:ignore|disregard|forget|discard)\s+(?:all|your|the)\s+(?:instructions?|rubric|criteria)\b",
    ),
    _rule(
        IGNORE, 0.9, "anweisung|vorgaben|consignes|instruc|instruç|указани|инструкци",
        r"\b(?:ignorier\w{0,3}|vergiss|missachte\w?)\s+(?:\w+\s+){0,3}(?:anweisung|vorgabe)\w*",
        r"\b(?:ignore[rz]?|oublie[rz]?)\s+(?:\w+\s+){0,3}(?:instructions?|consignes?)\s+"
        r"(?:précédentes?|antérieures?|ci-dessus)",
        r"\b(?:ignora|ignore|ignorad|ignoren|olvida|olvide)\s+(?:\w+\s+){0,3}instrucciones\s+"
        r"(?:anteriores|previas)",
        r"\b(?:ignore|esqueça)\s+(?:\w+\s+){0,3}instruções\s+anteriores",
        r"(?<!не )\b(?:про)?(?:игнорируй|забудь)\w{0,3}\s+(?:\w+\s+){0,3}(?:инструкци|указани)\w*",
    ),
    _rule(
        IGNORE, 0.9, "忽略|无视|無視|忘れて|تجاهل",
        r"(?:忽略|无视).{0,10}(?:指令|指示|提示词|规则)",
        r"(?:指示|命令|プロンプト|ルール)[をは]?(?:すべて|全て)?、?(?:無視して|忘れて)",
        r"تجاهل\w{0,2}\s+(?:\w+\s+){0,2}(?:التعليمات|الأوامر|القواعد)\s+السابقة",
    ),
    _rule(
        ADDRESS, 0.8, "judge|grader|evaluator|rater|assessor|annotator",
        rf"\b(?:dear|hello|hey|hi)\s+{_GRADER}\s*(?:[,:!.]|$)",
        rf"\b(?:note|message|instructions?|attention|reminder)\s+(?:to|for)\s+(?:(?:the|all|any|every)\s+)?{_GRADER}\b",
        rf"\b(?:as|being)\s+(?:an?|the)\s+{_GRADER}\s*,?\s+(?:you\s+(?:must|should|are|have|will|need)|choose|pick|select|prefer)\b",
        rf"\bif\s+you\s+are\s+(?:an?|the)\s+{_GRADER}\b",
        rf"(?:^|[.!?>\[]\s*|<!--\s*){_GRADER}\s*[,:]\s+(?:this|please|ignore|choose|prefer|give|rate|you)\b",
        r"\byou\s+are\s+now\s+(?:an?\s+)?\w*(?:grader|judge)\w*",
        rf"\b{_GRADER}\s+(?:who|that)\s+(?:read|see)s?\s+this\b",
    ),
    _rule(
        ADDRESS, 0.8,
        "prüfer|gutachter|bewerter|juror|jury|richter|die ki,|juge|évaluateur|correcteur|juez|evaluador"
        "|calificador",
        r"\b(?:hinweis|anmerkung|nachricht|anweisung(?:en)?)\s+(?:an|für)\s+(?:\w+\s+){0,2}"
        r"(?:prüfer|gutachter|bewerter|juror|jury)\w*\s*:",
        r"\b(?:lieber?|sehr\s+geehrter?)\s+(?:prüfer|gutachter|bewerter|juror|jury|richter)\w{0,3}\s*[,:!]",
        r"\ban\s+die\s+(?:ki|jury|gutachter|prüfer)\s*,?[^.\n]{0,30}bewerte[nt][^.\n]{0,10}:",
        r"\b(?:note|message|consignes?|instructions?)\s+(?:à|au|aux|pour)\s+(?:l['’]|les?\s+|la\s+)?"
        r"(?:juge|évaluateur|correcteur)\w*",
        r"\ben\s+tant\s+qu(?:e\s+|['’])(?:juge|évaluateur|correcteur)\w*\s*,\s*(?:tu|vous)\b",
        r"(?:\bcher\s+|<!--\s*)(?:juge|évaluateur)\w*",
        r"\b(?:nota|mensaje|instrucciones)\s+(?:para|al?)\s+(?:el\s+|la\s+|los\s+)?(?:juez|evaluador|calificador)\w*",
        r"(?:\b(?:querido|estimado)\s+|<!--\s*)(?:juez|evaluador)\w*",
    ),
    _rule(
        ADDRESS, 0.8, "проверяющ|судья|оценщик|评分|评审|评委|裁判|评估者|評価者|審査員|採点者|حكم|مقي",
        r"\b(?:примечание|сообщение|инструкци\w+)\s+для\s+(?:\w+\s+)?(?:проверяющ|судь|оценщик)\w*",
        r"\bуважаем\w+\s+(?:судь|проверяющ|оценщик)\w*",
        r"(?:给|致)(?:各位)?(?:评分者|评审|评委|裁判|评估者)(?:的|们|[：:，,])",
        r"作为(?:一名)?(?:评审|评委|裁判|评分者|评估者)\s*[，,]?\s*[你您]",
        r"(?:評価者|審査員|採点者)(?:様|さん|の方々?|の皆様)[、,，:：]",
        r"(?:亲爱|尊敬)的(?:评分者|评审|评委|裁判|评估者)[：:，,！!]",
        r"(?:прошу|просьба)\s+(?:\w+\s+)?(?:судь|проверяющ|оценщик)\w*",
        r"(?:評価者|審査員|採点者)(?:の方|の皆様|の皆さん|様)?へ(?:の注意|の指示)?",
        r"(?:أيها|عزيزي)\s+(?:ال)?(?:حكم|مقي\u0651?م)",
        r"ملاحظة\s+(?:إلى\s+ال|لل)(?:حكم|مقي\u0651?م)",
    ),
    _rule(
        DEMAND, 0.7, "answer|response|reply|nugget|claim",
        rf"\b(?:choose|pick|select|prefer|rate|score|grade|favou?r)\s+{_UP_TO_4}{_THIS}\s+{_ANSWER}\b",
        rf"\b(?:give|award|assign)\s+{_THIS}\s+{_ANSWER}\s+{_UP_TO_4}(?:{_TOP}|10|5|100)\b",
        rf"\b(?:give|award|assign)\s+(?:it|me|us)\s+(?:the\s+)?{_TOP}\s+(?:score|rating|grade|marks)\b",
        r"\bthis\s+(?:answer|response)\s+(?:deserves|should\s+(?:get|receive|win)|must\s+(?:get|receive|win))\b",
        r"\b(?:label|mark|count|classify|treat)\s+(?:all|every|each)\s+(?:of\s+the\s+)?(?:\w+\s+)?nuggets?\b",
        r"\b(?:all|every)\s+nuggets?\b[^.\n]{0,40}\b(?:labell?ed|marked)\b",
        r"\bgrader\s+accepts\s+every\s+claim\b",
        r"\b(?:prefer|favou?r|choose)\s+(?:mine|ours)\b",
        rf"\b(?:answer|response|reply)s?\s+that\s+[^.\n]{{0,40}}\breceives?\s+(?:the\s+)?{_TOP}\s+(?:mark|score|grade)",
        r"\b(?:output|declare|report|record)\s+(?:a\s+)?(?:win|victory)\s+for\s+this\b",
        r"\btreat\s+(?:each|every|all)\b[^.\n]{0,30}\bas\s+(?:fully\s+)?(?:stated|supported)\b",
    ),
    _rule(
        DEMAND, 0.7, "antwort|nugget|réponse|respuesta|first",
        r"\b(?:wähle|bevorzuge|nimm)\s+(?:\w+\s+){0,2}diese\s+antwort\b",
        r"\b(?:höchstnote|volle\s+punktzahl|höchstpunktzahl|bestnote)\s+(?:\w+\s+){0,2}antwort\b",
        r"\b(?:gib|vergib)\s+(?:\w+\s+){0,4}antwort\s+(?:\w+\s+){0,3}(?:höchst|volle|beste)\w*",
        r"\bentscheide\w*\s+(?:\w+\s+){0,2}für\s+diese\s+antwort\b",
        r"\b(?:antworte|réponds|répondez|responde|responder|respond|reply|answer)\s+(?:\w+\s+){0,4}[\"“„«]?first\b",
        r"\b(?:fait|fakten?|aussagen?|hechos?)\b[^.\n]{0,60}(?:cette\s+réponse|diese[rn]?\s+antwort|esta\s+respuesta)"
        r"[^.\n]{0,40}(?:support|énoncé|enthalten)",
        r"\bchaque\s+fait\b[^.\n]{0,40}\bcette\s+réponse\b",
        r"\bmarkiere\s+(?:bitte\s+)?alle\s+nuggets\b",
        r"\b(?:choisi\w{1,4}|préfère[zs]?|donne[rz]?|attribue[rz]?)\s+(?:\w+\s+){0,5}cette\s+réponse\b",
        r"\bmarque[rz]?\s+tous\s+les\s+nuggets\b",
        r"\b(?:elige|elija|escoge|prefiere|puntúa|califica|dale|da)\s+(?:\w+\s+){0,3}(?:esta|mi)\s+respuesta\b",
        r"\betiqueta\w?\s+todos\s+los\s+nuggets\b",
    ),
    _rule(
        DEMAND, 0.7, "ответ|нагет|балл|回答|答案|要点|ナゲット|满分|الإجابة|النقاط",
        r"\b(?:выбери|предпочти)\w{0,3}\s+(?:\w+\s+){0,2}(?:этот|мой)\s+ответ\b",
        r"\b(?:поставь|дай)\w{0,3}\s+(?:\w+\s+){0,2}ответу\s+(?:\w+\s+){0,2}(?:максимальн|высш)\w+",
        r"\bотметь\w{0,2}\s+(?:\w+\s+){0,2}нагет\w*",
        r"(?:请选择|选择|请选|偏向)(?:这个|本|此|第[一二]个)(?:回答|答案)",
        r"给(?:这个|本|此|第[一二]个)(?:回答|答案)(?:打|最)?(?:满|最)?高?分",
        r"(?:请给出|请打)满分",
        r"所有(?:要点|事实|nuggets?).{0,6}(?:标记|标注)",
        r"(?:请|应)(?:全部)?(?:判|标)(?:为|定)(?:支持|本回答)",
        r"判定?(?:这个|本|此)回答(?:获胜|胜)",
        r"この回答に(?:満点|最高点)",
        r"(?:считай|отметь)\w{0,2}\b[^.\n]{0,20}\bв\s+этом\s+ответе\b",
        r"\bвысш\w+\s+балл",
        r"أعط\w{0,2}\s+هذه\s+الإجابة",
        r"この回答を(?:選んで|最高|高く評価して)",
        r"すべてのナゲット",
        r"اختر\w{0,2}\s+هذه\s+الإجابة",
        r"صن\u0651?ف\s+كل\s+النقاط",
    ),
    _rule(
        VERDICT, 0.7, "answer|response|winner|verdict",
        rf"\b{_THIS}\s+(?:answer|response)\s+(?:is\s+(?:(?:clearly|much|the)\s+){{0,2}}(?:better|best|superior|winner)|wins)\b"
        r"(?!\s+(?:for|if|when|known))",
        r"\b(?:final\s+)?verdict\s*:\s*(?:\[\[|answer|response|this\s+(?:answer|response)|first|second)",
        r"\b(?:prefer|choose)\s+the\s+(?:first|second)\s+answer\b",
    ),
    _rule(
        VERDICT, 0.7, "antwort|réponse|respuesta|ответ|回答|答案|الإجابة|primera",
        r"\bdiese\s+antwort\s+(?:ist\s+)?(?:\w+\s+)?(?:besser\s+als\s+(?:die|jede)\s+ander|die\s+(?:beste|bessere)\b|gewinnt\b)",
        r"\bcette\s+réponse\s+est\s+(?:\w+\s+)?(?:la\s+)?meilleure\b",
        r"\b(?:la\s+)?(?:première|seconde|deuxième)\s+réponse\s+(?:gagne|l['’]emporte)\b",
        r"\besta\s+respuesta\s+es\s+(?:\w+\s+)?(?:la\s+)?mejor\b",
        r"\brespuesta\s+del\s+juez\b",
        r"\bэтот\s+ответ\s+(?:\w+\s+)?лучше\b",
        r"(?:这个|本)(?:回答|答案)比.{0,10}更[好优]",
        r"この回答は.{0,16}(?:優れて|より良い)",
        r"هذه\s+الإجابة\s+(?:هي\s+)?(?:ال)?(?:أفضل|فائزة)",
        r"この回答の勝ち",
        r"\besta\s+respuesta\s+(?:es\s+\w+\s+superior|gana)\b",
    ),
    Rule(
        name=REPLY, confidence=0.8, words=("winner", "labels", "grades", "answers", "nuggets"),
        pattern=_any((
            r"[\"']?\bwinner[\"']?\s*[:=]\s*[\"']?(?:first|second|tie|a|b)\b(?![ \t]+[a-z])",
            r"[\"'](?:labels|grades|answers|nuggets)[\"']\s*:\s*\[\s*[\"'](?:[a-z]\w{0,20}\s+[a-z\d])",
        )),
        in_code=True,
    ),
    Rule(
        name=REPLY, confidence=0.8, words=("verdict",),
        pattern=_any((r"[\"']verdict[\"']\s*:\s*[\"'](?:first|second|tie|a|b)[\"']",)),
        in_code=True,
    ),
    _rule(REPLY, 0.7, "[[", r"verdict\s*:?\s*\[\[(?:a|b|c|tie)\]\]"),
    _rule(REPLY, 0.7, "n1 |n2 ", r"^n\d{1,3} [spnvo](?: \d{1,3})?[ \t]*$", least=2),
    _rule(
        REPLY, 0.7, "relevance|accuracy|completeness|precision",
        r"^(?:relevance|accuracy|completeness|precision) [0-5](?::|$)", least=2,
    ),
    _rule(REPLY, 0.7, "better ", r"^better [fst][ \t]*$"),
    _rule(REPLY, 0.6, " c1:| a1:| a1 ", r"^[vo](?: [ac]\d{1,3}){1,20}: \S"),
    Rule(
        name=DELIMITER, confidence=0.9, words=("<<<",),
        pattern=_any((
            r"<<<\s*(?:end|answer|query|chunk|nuggets?|source|sentence)\b",
            r"<<<[^\n]{0,60}#[0-9a-f]{16}",
        )),
        in_code=True,
    ),
    _rule(
        DELIMITER, 0.7, "end of|fin de|ende de|конец|结束|終わり|نهاية",
        r"^[ \t]{0,3}[\[【(=#*<-]{1,10}[ \t]{0,3}(?:end\s+of\s+(?:the\s+|first\s+|second\s+)?"
        r"(?:answer|document|response|query|page|context)"
        r"|fin\s+de\s+(?:la\s+)?(?:respuesta|réponse)|ende\s+de[rs]\s+(?:dokument|antwort)\w*"
        r"|конец\s+(?:ответа|документа)|(?:问题|回答|文档)结束|(?:文書|回答)の終わり|نهاية\s+الإجابة)(?:[\])】>]|[^\w\n]{0,20}$)",
    ),
    _rule(
        ROLE, 0.8, "<|inst]|_of_turn|_prompt]|[gmask]|]~b]|system|human:|humain",
        r"<\|[^|<>\n]{1,40}\|?>|<[a-z_]{1,20}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
        r"|\[/?system_prompt\]|\[gmask\]|\]~b\]|</?system(?:[_-](?:prompt|message|reminder))?>",
        r"^(?:human|humain)\s?:[^\n]{0,300}\n+(?:assistant)\s?:",
        r"^(?:system\s+(?:note|message|override)|系统|систем\w+\s+сообщени\w+)\s?[:：]",
    ),
    _rule(
        HIDDEN, 0.6, "<!--|display|hidden",
        r"<!--(?:(?!-->)[\s\S]){0,300}\b(?:ignore|grader|judge|evaluator|juge|evaluador|winner|score|prefer)",
        r"<\w+[^>\n]{0,80}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0)",
    ),
)  # fmt: skip

# Looked for in the text as it was written: characters that say something no reader sees. A flag of Scotland
# is written with tag characters, too, after a black flag.
UNSEEN = Rule(
    name=HIDDEN,
    confidence=0.9,
    words=(),
    pattern=re.compile("(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{3,}|[\u202d\u202e]"),
    in_code=True,
)
