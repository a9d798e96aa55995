"""Where sentences end, in many languages: our own cases, a bar where one ends."""

import pytest

from services.indexer.sentences import sentences

CASES = {
    "am": ["ሻይ መጠጥ ነው።|ጥሩ ነው።"],
    "ar": ["الشاي مشروب.|هل هو مفيد؟|نعم!|يحتوي على 2.5 غرام."],
    "bn": ["চা একটি পানীয়।|এটি কি ভালো?|হ্যাঁ।"],
    "de": [
        "Das ist z. B. am 3. Oktober der Fall.|Dr. Müller kam ca. um 8 Uhr.|Er ging.",
        "Die Fa. Meier GmbH & Co. KG liefert u. a. Tee.|Danach nichts.",
    ],
    "el": ["Ο κ. Παπάς ήρθε.|Πού είναι;|Δεν ξέρω."],
    "en": [
        "Dr. Smith paid $3.50 at 5 p.m. on Jan. 4.|He left.|See Fig. 2 for details.",
        "The U.S. economy grew 2.5 percent, approx. twice as much.|Prices fell.",
        "See https://example.org/a.b?c=1 first.|Then go on.",
    ],
    "es": ["El Sr. Pérez llegó.|¿Quién es?|¡Nadie!|Pesa 3.5 kg."],
    "fa": ["چای نوشیدنی است.|آیا مفید است؟|بله."],
    "fr": ["M. Dupont arrive à 10 h.|Il repart.|C'est vrai ?|Oui !"],
    "he": ["תה הוא משקה.|האם הוא בריא?|כן."],
    "hi": ["चाय पेय है।|क्या यह अच्छी है?|हाँ!|डॉ. शर्मा आए।"],
    "hy": ["Թեյը ըմպելիք է։|Այն լավն է։"],
    "it": ["Il dott. Rossi è qui.|Dov'è?|Non si sa."],
    "ja": ["お茶は飲み物です。|本当ですか？|そうです！"],
    "km": ["តែជាភេសជ្ជៈ។|វាល្អ។"],
    "ko": ["차는 음료이다.|녹차는 건강에 좋다.|정말인가요?|네."],
    "my": ["လက်ဖက်ရည်သည် အဖျော်ယမကာဖြစ်သည်။|ကောင်းသည်။"],
    "nl": ["Dhr. Jansen komt o.a. morgen.|Hij blijft bijv. een dag.|Goed."],
    "pl": ["Prof. Nowak mieszka przy ul. Długiej.|Ma m.in. psa.|Koniec."],
    "pt": ["O Sr. Silva saiu.|Onde foi?|Ninguém sabe."],
    "ru": ["В 2020 г. там жило 5 млн. чел.|Это много.", "А. С. Пушкин родился в Москве.|Он поэт."],
    "ta": ["தேநீர் ஒரு பானம்.|அது நல்லதா?|ஆம்."],
    "th": ["ชาเป็นเครื่องดื่มที่ได้รับความนิยมมากที่สุดในโลก รองจากน้ำเปล่า|ชาเขียวดีต่อสุขภาพ"],
    "tr": ["Dr. Yılmaz geldi.|Saat 10.30'da gitti.|Neden?"],
    "uk": ["Місто засновано у 1256 р. князем.|Воно велике."],
    "ur": ["چائے ایک مشروب ہے۔|کیا یہ اچھی ہے؟|ہاں۔"],
    "vi": ["TS. Nam đã đến.|Anh ấy ở đâu?|Không biết."],
    "zh-Hans": ["茶是饮料。|茶有益！|是吗？", "水在100.5度沸腾。|结束。"],
    "no-such-language": ["One.|Two."],
}
UNSPACED = {"ja", "km", "zh-Hans"}  # no space after the end of a sentence


@pytest.mark.parametrize(
    ("language", "marked"), [(language, text) for language, texts in CASES.items() for text in texts]
)
def test_sentences_end_where_a_reader_sees_them_end(language: str, marked: str) -> None:
    text = marked.replace("|", "" if language in UNSPACED else " ")
    assert [sentence.text for sentence in sentences(text, language)] == marked.split("|")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One line\nanother line", ["One line", "another line"]),
        ("## Tea\n\n- Green. With milk.\n- Black", ["## Tea", "- Green.", "With milk.", "- Black"]),
        ("1. Boil water\n2. Add tea. Wait.\n(3) Go", ["1. Boil water", "2. Add tea.", "Wait.", "(3) Go"]),
        ("| Tea | Cups. Day |\n|---|---|", ["| Tea | Cups. Day |", "|---|---|"]),
        ("Run:\n```python\nx = 1. ; print('Hi. You.')\n```\nDone. Good.",
         ["Run:", "```python", "x = 1. ; print('Hi. You.')", "```", "Done.", "Good."]),
        (" \n\t\n ", []),
    ],
)  # fmt: skip
def test_lists_tables_and_code_are_split_by_lines(text: str, found: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text, "en")] == found


def test_a_language_that_is_unknown_is_read_like_english() -> None:
    assert [sentence.text for sentence in sentences("Dr. Smith left. Why?", None)] == [
        "Dr. Smith left.",
        "Why?",
    ]


def test_a_wall_of_text_is_cut_and_not_lost() -> None:
    wall = "x" * 5001
    found = [sentence.text for sentence in sentences(wall, "en")]
    assert "".join(found) == wall
    assert max(map(len, found)) <= 2000
