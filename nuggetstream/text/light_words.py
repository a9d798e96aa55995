"""Words of five languages that say little by themselves, and words that say the same."""


def words(text: str) -> frozenset[str]:
    """The words of a list that is written with spaces."""
    return frozenset(text.split())


LIGHT = words(
    "because although originally either once if here today usually often generally typically additionally "
    "furthermore moreover overall note otherwise "
    "übrigens außerdem dabei daher deshalb zudem dann wer wenn weil da hier heute oft meist "
    "ainsi donc lorsque quand si cependant toutefois puis así cuando aunque además entonces porque "
    "an the that these this those is it its he his she her they their we our you one no not some such "
    "all both each every few many most several also about approximately roughly around nearly almost "
    "was were are be been being has have had do does did can could will would may might should in on at "
    "of for from to by with and or but as than then when while after before during until since into "
    "onto over under between however therefore thus der die das den dem des ein eine einen einem einer "
    "eines er sie es ist sind war waren wird wurde wurden werden worden hat haben hatte hatten kann im "
    "am in an auf von vom zu zum zur mit und oder aber als wie für bei nach vor seit bis durch rund "
    "etwa ungefähr circa diese dieser dieses diesen man sich auch alle viele nur nicht le la les un une "
    "des du de et ou mais il elle ils elles on est sont était étaient fut été être a ont avait en au "
    "aux dans par pour sur avec sans ce cet cette ces se sa son ses leur qui que dont plus environ el "
    "los las una unos unas del al y o pero él ella ellos ellas es son era eran fue fueron ser ha han "
    "había se su sus por para con sin sobre este esta estos estas que lo le como है हैं था थी थे ने को "
    "से में का की के और पर यह वह ये वे एक कि जो भी ही तो हो हुआ हुई हुए गया गई गए जाता जाती जाते होता "
    "होती होते लगभग करीब या लेकिन इस उस इन उन कर करता करती करते किया रहा रही रहे"
)
PRONOUN = words(
    "it he she they this these those er sie es dieser diese dieses il elle ils elles ce cela él ella "
    "ellos ellas este esta esto यह वह ये वे इस उस"
)
CONJUNCTIONS = words("and but while whereas und aber während et mais tandis y pero mientras और लेकिन")
# Words for one property, of which a claim may have another one than the sentence.
ALIKE = {
    word: group.split()[0]
    for group in (
        "high tall height altitude elevation",
        "long length",
        "wide width breadth",
        "deep depth",
        "hoch höhe hohe hohen",
        "lang länge",
        "tief tiefe",
        "haut hauteur altitude",
        "profond profondeur",
        "alto altura altitud",
        "largo longitud",
        "ऊँचा ऊँची ऊँचाई ऊंचा ऊंची ऊंचाई",
    )
    for word in group.split()
}


def _opposites(pairs: str) -> dict[str, frozenset[str]]:
    found = dict[str, frozenset[str]]()
    for pair in pairs.split():
        one, other = (frozenset(side.split("/")) for side in pair.split(":"))
        found |= dict.fromkeys(one, other) | dict.fromkeys(other, one)
    return found


OPPOSITES = _opposites(
    "won/wins/win:lost/loses/lose rose/rises/rise/increased/increases/increase/grew/grows:"
    "fell/falls/fall/decreased/decreases/decrease/declined/declines/shrank higher:lower more:less/fewer "
    "before:after first:last largest/biggest:smallest highest:lowest longest:shortest north/northern:"
    "south/southern east/eastern:west/western safe:dangerous/unsafe legal:illegal possible:impossible "
    "warmer/hotter:colder/cooler older:younger begins/began/started/starts:ended/ends true:false "
    "gewann/gewinnt/gewonnen:verlor/verliert/verloren stieg/steigt/wuchs:sank/sinkt/fiel mehr:weniger "
    "höher:niedriger größte/größten:kleinste/kleinsten nördlich:südlich östlich:westlich "
    "gagné/gagne/remporté:perdu/perd augmente/augmenté:diminue/diminué/baisse/baissé plus:moins "
    "nord:sud ganó/gana:perdió/pierde aumenta/aumentó/subió/sube:disminuye/disminuyó/bajó/baja más:menos "
    "norte:sur अधिक/ज़्यादा:कम जीता/जीते:हारा/हारे"
)
"""Words that say the opposite of others."""
