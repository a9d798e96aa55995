"""Texts in many languages for both splitters of sentences (ADR 31); a bar where a sentence ends."""

# Both splitters find exactly these sentences.
PLAIN = {
    "am": ["ሻይ መጠጥ ነው። |ጥሩ ነው።"],
    "ar": ["الشاي مشروب. |هل هو مفيد؟ |نعم! |يحتوي على 2.5 غرام."],
    "bn": ["চা একটি পানীয়। |এটি কি ভালো? |হ্যাঁ।"],
    "de": ["Tee ist ein Getränk. |Ist er gesund? |Ja! |Er kostet 3,50 Euro."],
    "el": ["Το τσάι είναι ρόφημα. |Είναι καλό; |Ναι."],
    "en": [
        "Tea is a drink. |Is it good? |Yes! |It costs 3.50 a cup.",
        "See https://example.org/a.b?c=1 first. |Then go on.",
    ],
    "es": ["El té es una bebida. |¿Es bueno? |¡Sí! |Pesa 3.5 kg."],
    "fa": ["چای نوشیدنی است. |آیا مفید است؟ |بله."],
    "fr": ["Le thé est une boisson. |C'est bon ? |Oui !"],
    "he": ["תה הוא משקה. |האם הוא בריא? |כן."],
    "hi": ["चाय पेय है। |क्या यह अच्छी है? |हाँ! |इसमें 2.5 ग्राम है।"],
    "hy": ["Թեյը ըմպելիք է։ |Այն լավն է։"],
    "it": ["Il tè è una bevanda. |È buono? |Sì!"],
    "ja": ["お茶は飲み物です。|本当ですか？|そうです！"],
    "km": ["តែជាភេសជ្ជៈ។|វាល្អ។"],
    "ko": ["차는 음료이다. |녹차는 건강에 좋다. |정말인가요? |네."],
    "my": ["လက်ဖက်ရည်သည် အဖျော်ယမကာဖြစ်သည်။ |ကောင်းသည်။"],
    "nl": ["Thee is een drank. |Is het gezond? |Ja!"],
    "pl": ["Herbata to napój. |Czy jest zdrowa? |Tak!"],
    "pt": ["O chá é uma bebida. |É bom? |Sim!"],
    "ru": ["Чай — это напиток. |Он полезен? |Да!"],
    "ta": ["தேநீர் ஒரு பானம். |அது நல்லதா? |ஆம்."],
    "th": ["ชาเป็นเครื่องดื่มที่ได้รับความนิยมมากที่สุดในโลก รองจากน้ำเปล่า |ชาเขียวดีต่อสุขภาพ"],
    "tr": ["Çay bir içecektir. |Saat 10.30'da gitti. |İyi mi? |Evet!"],
    "uk": ["Чай є напоєм. |Він корисний? |Так!"],
    "ur": ["چائے ایک مشروب ہے۔ |کیا یہ اچھی ہے؟ |ہاں۔"],
    "vi": ["Trà là đồ uống. |Có tốt không? |Có."],
    "zh-Hans": ["茶是饮料。|茶有益！|是吗？", "水在100.5度沸腾。|结束。", "茶是饮料。 |茶有益！"],
    "no-such-language": ["One. |Two."],
}
# The splitter of pages finds exactly these sentences; that of answers ends some at abbreviations, too.
ABBREVIATIONS = {
    "de": [
        "Das ist z. B. am 3. Oktober der Fall. |Dr. Müller kam ca. um 8 Uhr. |Er ging.",
        "Die Fa. Meier GmbH & Co. KG liefert u. a. Tee. |Danach nichts.",
    ],
    "el": ["Ο κ. Παπάς ήρθε. |Πού είναι; |Δεν ξέρω."],
    "en": [
        "Dr. Smith paid $3.50 at 5 p.m. on Jan. 4. |He left. |See Fig. 2 for details.",
        "The U.S. economy grew 2.5 percent, approx. twice as much. |Prices fell.",
    ],
    "es": ["El Sr. Pérez llegó. |¿Quién es? |¡Nadie!"],
    "fr": ["M. Dupont arrive à 10 h. |Il repart."],
    "hi": ["हाँ! |डॉ. शर्मा आए।"],
    "it": ["Il dott. Rossi è qui. |Dov'è? |Non si sa."],
    "nl": ["Dhr. Jansen komt o.a. morgen. |Hij blijft bijv. een dag. |Goed."],
    "pl": ["Prof. Nowak mieszka przy ul. Długiej. |Ma m.in. psa. |Koniec."],
    "pt": ["O Sr. Silva saiu. |Onde foi? |Ninguém sabe."],
    "ru": ["В 2020 г. там жило 5 млн. чел. |Это много.", "А. С. Пушкин родился в Москве. |Он поэт."],
    "tr": ["Dr. Yılmaz geldi. |Neden?"],
    "uk": ["Місто засновано у 1256 р. князем. |Воно велике."],
    "vi": ["TS. Nam đã đến. |Anh ấy ở đâu? |Không biết."],
}
# Line breaks end sentences for both; of these, the splitter of pages finds exactly these sentences.
LAYOUT = {
    "lines": "One line\n|another line",
    "a list": "## Tea\n\n|- Green. |With milk.\n|- Black",
    "a numbered list": "1. Boil water\n|2. Add tea. |Wait.\n|(3) Go",
    "a table": "¦ Tea ¦ Cups. Day ¦\n|¦---¦---¦",
    "a code block": "Run:\n|```python\n|x = 1. ; print('Hi. You.')\n|```\n|Done. |Good.",
}


def unmarked(marked: str) -> tuple[str, list[str]]:
    """The text of a case, and its sentences."""
    parts = [part.strip().replace("¦", "|") for part in marked.split("|")]
    return marked.replace("|", "").replace("¦", "|"), parts


def named(cases: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Each case with its language."""
    return [(language, marked) for language, texts in cases.items() for marked in texts]
