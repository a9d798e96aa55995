"""Words of numbers and of units, in up to nine languages and in Hindi."""

from collections.abc import Iterable, Mapping

from nuggetstream.text.light_words import words


def _by_name(names: Mapping[str, str]) -> Mapping[str, str]:
    return {name: one for one, listed in names.items() for name in listed.split()}


def _numbered(rows: Iterable[str], start: int, step: int = 1) -> dict[str, int]:
    return {name: start + step * index for index, row in enumerate(rows) for name in row.split()}


UNIT = _by_name(
    {
        "%": "% percent prozent процент процента процентов パーセント pct प्रतिशत फीसदी เปอร์เซ็นต์",
        "km": "km kilometer kilometers kilometre kilometres kilometern kilomètre kilomètres kilómetro "
        "kilómetros chilometro chilometri quilômetro quilômetros quilómetro quilómetros километр километра "
        "километров км 公里 千米 キロメートル किलोमीटर किमी กิโลเมตร",
        "m": "m meter meters metre metres metern mètre mètres metro metros metri метр метра метров м "
        "メートル मीटर เมตร",
        "kg": "kg kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos chilogrammo "
        "chilogrammi quilograma quilogramas килограмм килограмма килограммов кг 公斤 千克 キログラム "
        "किलोग्राम किलो กิโลกรัม",
        "cm": "cm centimeter centimeters centimetre centimetres zentimeter zentimetern centimètre "
        "centimètres centímetro centímetros centimetro centimetri सेंटीमीटर เซนติเมตร",
        "mm": "mm millimeter millimeters millimetre millimetres millimetern millimètre millimètres milímetro "
        "milímetros millimetro millimetri",
        "g": "g gram grams gramm grammes gramo gramos grammi grama gramas ग्राम กรัม",
        "t": "t tonne tonnes tonnen tonelada toneladas tonnellata tonnellate टन ตัน",
        "l": "l liter liters litre litres litern litro litros litri लीटर ลิตร",
        "ml": "ml milliliter milliliters millilitre millilitres mililitro mililitros",
        "h": "h hour hours stunde stunden heure heures hora horas ora ore घंटा घंटे घंटों ชั่วโมง",
        "min": "min minute minutes minuten minuto minutos minuti मिनट นาที",
        "s": "s second seconds sekunde sekunden seconde secondes segundo segundos secondo secondi सेकंड วินาที",
        "day": "day days tag tage tagen jour jours día días dia dias giorno giorni दिन วัน",
        "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane सप्ताह हफ्ते",
        "month": "month months monat monate monaten mois mes meses mese mesi महीने माह เดือน",
        "year": "year years jahr jahre jahren an ans année années año años ano anos anno anni साल वर्ष वर्षों ปี",
        "mile": "mile miles meile meilen milla millas मील",
        "ft": "ft foot feet fuß fuss pied pieds pie pies",
        "lb": "lb lbs pound pounds",
        "°C": "°c",
        "°F": "°f",
        "°": "° degree degrees grad degré degrés grado grados डिग्री",
        "km/h": "km/h kmh kph",
        "m/s": "m/s",
        "m²": "m² m2",
        "km²": "km² km2",
        "ha": "ha hectare hectares hektar hectárea hectáreas",
        "$": "$ dollar dollars dólar dólares डॉलर",
        "€": "€ euro euros",
        "£": "£",
        "¥": "¥ yen 元 円",
        "₹": "₹ rupee rupees रुपये रुपया",
    }
)
"""The symbol of a unit by each of its names in lower case."""

SCALE: Mapping[str, tuple[str, float]] = {
    "km": ("m", 1000.0),
    "cm": ("m", 0.01),
    "mm": ("m", 0.001),
    "kg": ("g", 1000.0),
    "t": ("g", 1e6),
    "ml": ("l", 0.001),
    "h": ("s", 3600.0),
    "min": ("s", 60.0),
    "km²": ("m²", 1e6),
    "ha": ("m²", 1e4),
}
"""Units that are multiples of others: the other unit, and how many of it."""

# From two on; words that mean something else in another of these languages are left out.
_SMALL = (
    "two zwei deux dos dois duas два две दो",
    "three drei trois tres tre três три तीन",
    "four vier quatre cuatro quattro quatro четыре चार",
    "five fünf cinq cinco cinque пять पाँच पांच",
    "six sechs seis шесть छह छः",
    "seven sieben sept siete sette sete семь सात",
    "eight acht huit ocho otto oito восемь आठ",
    "nine neun nueve девять नौ",
    "ten zehn dix diez dieci dez десять दस",
    "eleven elf onze undici once одиннадцать ग्यारह",
    "twelve zwölf douze doce dodici doze двенадцать बारह",
)
# Of Spanish and English: "once" is eleven and one time.
NUMBER: Mapping[str, int] = {
    name: value for name, value in _numbered(_SMALL, 2).items() if name not in ("once", "elf")
}
"""Numbers from two to twelve by their names."""

_TEENS = (
    "thirteen dreizehn treize trece तेरह",
    "fourteen vierzehn quatorze catorce चौदह",
    "fifteen fünfzehn quinze quince पंद्रह पन्द्रह",
    "sixteen sechzehn seize dieciséis सोलह",
    "seventeen siebzehn diecisiete सत्रह",
    "eighteen achtzehn dieciocho अठारह",
    "nineteen neunzehn diecinueve उन्नीस",
)
_TENS = (
    "twenty zwanzig vingt veinte बीस",
    "thirty dreißig dreissig trente treinta तीस",
    "forty vierzig quarante cuarenta चालीस",
    "fifty fünfzig cinquante cincuenta पचास",
    "sixty sechzig soixante sesenta साठ",
    "seventy siebzig setenta सत्तर",
    "eighty achtzig ochenta अस्सी",
    "ninety neunzig noventa नब्बे",
)
CARDINAL: Mapping[str, int] = dict(NUMBER) | {"elf": 11} | _numbered(_TEENS, 13) | _numbered(_TENS, 20, 10)
"""Numbers below a hundred that are one word."""

MULTIPLE: Mapping[str, tuple[float, ...]] = {
    name: values
    for values, names in (
        ((12.0,), "dozen dutzend douzaine docena"),
        ((1e2,), "hundred hundert सौ"),
        ((1e3,), "thousand tausend mil mille हजार हज़ार พัน"),
        ((1e5,), "lakh lakhs लाख"),
        ((1e6,), "million millions millionen millón millones milione milioni milhão milhões mio ล้าน"),
        ((1e7,), "crore crores करोड़ करोड़"),
        ((1e9,), "milliard milliards milliarde milliarden miliardo miliardi mrd bn अरब"),
        ((1e9, 1e12), "billion billions billón billones"),  # a thousand million or a million million
        ((1e12,), "trillion trillions billionen"),
    )
    for name in names.split()
}
"""Words that multiply the number before them, with what they can mean."""

ROUGHLY = words(
    "about approximately roughly around nearly almost circa ca etwa ungefähr rund fast knapp environ "
    "près presque aproximadamente unos unas cerca casi около примерно लगभग करीब ประมาณ ~ ≈"
)
"""Words before a number that is not exact."""

BOUND = words(
    "over more than least most up fewer less under below above mehr über mindestens höchstens weniger "
    "bis unter plus moins más menos अधिक ज़्यादा ज्यादा कम > <"
)
"""Words before a number that is a limit."""
