"""Names of the months in nine languages, as dates write them."""

from collections.abc import Mapping

_MONTHS = (
    "january januar janvier enero gennaio janeiro января जनवरी",
    "february februar février febrero febbraio fevereiro февраля फरवरी",
    "march märz mars marzo março марта मार्च",
    "april avril abril aprile апреля अप्रैल",
    "may mai mayo maggio maio мая मई",
    "june juni juin junio giugno junho июня जून",
    "july juli juillet julio luglio julho июля जुलाई",
    "august août agosto августа अगस्त",
    "september septembre septiembre settembre setembro сентября सितंबर",
    "october oktober octobre octubre ottobre outubro октября अक्टूबर",
    "november novembre noviembre novembro ноября नवंबर",
    "december dezember décembre diciembre dicembre dezembro декабря दिसंबर",
)
MONTH: Mapping[str, int] = {
    name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()
}  # number of the month, from 1, by its name in lower case
MONTH_NAMES = "|".join(sorted(MONTH, key=len, reverse=True))  # for use inside a regular expression
_SHORT_MONTHS = (
    "jan ene",
    "feb févr",
    "mär",
    "apr avr",
    "",
    "jun",
    "jul juil",
    "aug ago",
    "sep sept",
    "oct okt",
    "nov",
    "dec dez déc dic",
)
SHORT_MONTH: Mapping[str, int] = {
    name: number for number, names in enumerate(_SHORT_MONTHS, 1) for name in names.split()
}  # the same of short names
