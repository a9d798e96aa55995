"""Names of the months in eight languages, as dates write them."""

from collections.abc import Mapping

_MONTHS = (
    "january januar janvier enero gennaio janeiro января",
    "february februar février febrero febbraio fevereiro февраля",
    "march märz mars marzo março марта",
    "april avril abril aprile апреля",
    "may mai mayo maggio maio мая",
    "june juni juin junio giugno junho июня",
    "july juli juillet julio luglio julho июля",
    "august août agosto августа",
    "september septembre septiembre settembre setembro сентября",
    "october oktober octobre octubre ottobre outubro октября",
    "november novembre noviembre novembro ноября",
    "december dezember décembre diciembre dicembre dezembro декабря",
)
MONTH: Mapping[str, int] = {
    name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()
}  # number of the month, from 1, by its name in lower case
MONTH_NAMES = "|".join(sorted(MONTH, key=len, reverse=True))  # for use inside a regular expression
