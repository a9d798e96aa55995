"""Names that a reader cannot tell apart are one name, or none."""

import pytest

from nuggetstream.domain.system_name import one_spelling, system_name


@pytest.mark.parametrize(
    "written",
    [
        "\uff47pt-4",  # full width
        "gpt\u20114",  # non-breaking hyphen
        "gpt\u22124",  # minus
        "gpt\u20134",  # en dash
        "\U0001d420pt-4",  # mathematical bold
        "gpt-\u2463",  # in a circle
        " gpt-4\u3000",
    ],
)
def test_other_forms_of_the_same_characters_are_one_name(written: str) -> None:
    assert system_name(written) == "gpt-4"


@pytest.mark.parametrize(
    "written",
    ["g\u0440t-4", "gpt-4\u043e", "gpt-\u03bf1", "gp\u0442\u0308-4", "\u13da\u0440t", "mini C\u041eP"],
)
def test_a_word_with_letters_of_two_alphabets_is_rejected(written: str) -> None:
    with pytest.raises(ValueError, match=r"mixes letters of .* and .* which reads like another name"):
        system_name(written)
    assert one_spelling(written) == written


@pytest.mark.parametrize(
    "name", ["ГигаЧат Lite", "通义千问Qwen", "GPTไทย", "β VAE", "Ministral-é", "さくらLLM", "α"]
)
def test_names_in_any_language_stay_as_they_are(name: str) -> None:
    assert system_name(name) == name
