"""Lines that were broken to fit a page are joined, and what is laid out in lines stays so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scraper.documents import read_document
from services.scraper.extraction import ExtractionJob
from services.scraper.media_type import MediaKind
from services.scraper.wrapped_lines import joined_plain, joined_print

PARAGRAPHS = {
    "English": (
        "The owl is a nocturnal bird of prey that hunts mice under\n"
        "the snow. It hears them from thirty metres away because its\n"
        "ears are at different heights, as Dr. Payne showed in 1962 in\n"
        "Lincoln, Massachusetts, with owls that he fed on, e.g.\n"
        "voles and shrews."
    ),
    "Russian": (
        "Совы охотятся ночью на мышей, которых они слышат под снегом\n"
        "на расстоянии тридцати метров, потому что их уши находятся на\n"
        "разной высоте. Это показал Пейн."
    ),
    "Arabic": (
        "البومة طائر ليلي يصطاد الفئران تحت الثلج ليلا وتسمعها من\n"
        "مسافة ثلاثين مترا لأن أذنيها على ارتفاعين مختلفين كما بين\n"
        "الباحثون في القرن الماضي."
    ),
    "Hindi": (
        "उल्लू रात में सक्रिय रहने वाला पक्षी है जो बर्फ के नीचे चूहों का शिकार\n"
        "करता है और उन्हें तीस मीटर की दूरी से सुन सकता है क्योंकि उसके कान\n"
        "अलग ऊँचाई पर होते हैं।"
    ),
    "Korean": (
        "올빼미는 밤에 활동하는 새로서 주로 쥐와 같은 작은 포유류를 잡아\n"
        "먹는다. 청각이 매우 예민하여 완전한 어둠 속에서도 먹이의 위치를\n"
        "정확히 알 수 있다."
    ),
}
UNSPACED = {
    "Chinese": (
        "猫头鹰是一种夜行性猛禽，主要在夜间捕食老鼠等小型哺乳\n"
        "动物。它们的听觉非常灵敏，能够在完全黑暗的环境中准确判\n"
        "断猎物的位置。"
    ),
    "Japanese": (
        "フクロウは夜行性の鳥であり、主にネズミなどの小さな哺乳類を捕\n"
        "食する。その聴覚は非常に鋭く、完全な暗闇の中でも獲物の位置を正\n"
        "確に把握できる。"
    ),
    "Thai": (
        "นกเค้าแมวเป็นนกที่ออกหากินในเวลากลางคืนโดยล่าหนูใต้หิมะ\nและได้ยินเสียงจากระยะสามสิบเมตรเพราะหูของมันอยู่ต่างระดับ\nกัน"
    ),
}
LAID_OUT = {
    "verse": (
        "Tyger Tyger, burning bright in the darkness of the night\n"
        "In the forests, what immortal hand of whom, or what an eye\n"
        "Could have framed thy fearful symmetry in distant deeps\n"
        "What the hand that dared to seize the fire"
    ),
    "list": (
        "- mice and voles, which they hear under the snow in winter\n"
        "- hollow trees, in which they breed from spring to summer\n"
        "1. first we counted all of the owls in the forest by calls\n"
        "2. then we weighed all of those which came down to the net\n"
        "(a) in the forest, from the beginning to the end of the day\n"
        "(b) in the meadow, from the beginning to the end of the day"
    ),
    "table": (
        "Barn owl 430 g 29 cm 12 14 17 22 25 31 41\n"
        "Eagle owl 2,700 g 66 cm 20 21 22 31 35 42\n"
        "| snowy owl | lives in the tundra | 2 kg |\n"
        "| tawny owl | lives in the forest | 1 kg |"
    ),
    "contents": (
        "1.1 The history of the study of owls in Europe\n"
        "1.2 the methods of the study of owls in Europe\n"
        "what owls eat in winter ...................... 12\n"
        "where owls sleep in the summer months ........ 17"
    ),
}


def without_breaks(text: str, separator: str) -> str:
    return text.replace("\n", separator)


@pytest.mark.parametrize("text", PARAGRAPHS.values(), ids=PARAGRAPHS)
def test_the_lines_of_a_paragraph_are_joined_by_spaces(text: str) -> None:
    assert joined_print(text) == without_breaks(text, " ")


@pytest.mark.parametrize("text", UNSPACED.values(), ids=UNSPACED)
def test_where_words_have_no_spaces_lines_are_joined_without(text: str) -> None:
    assert joined_print(text) == without_breaks(text, "")


@pytest.mark.parametrize("text", LAID_OUT.values(), ids=LAID_OUT)
def test_what_is_laid_out_in_lines_stays_so(text: str) -> None:
    assert joined_print(text) == text


def test_words_that_were_hyphenated_are_whole_again_and_other_hyphens_stay() -> None:
    german = (
        "Die Waldkauzpaare im Thüringer Wald brüten von März bis\n"
        "Mai in Baumhöhlen, wobei die Jungvögel nach etwa vier Wo-\n"
        "chen das Nest verlassen. Die Vor- und Nachteile der Brut-\n"
        "und Aufzuchtzeit sind gut untersucht, auch in Baden-\n"
        "Württemberg, im Süden."
    )
    assert joined_print(german) == (
        "Die Waldkauzpaare im Thüringer Wald brüten von März bis Mai in Baumhöhlen, wobei die Jungvögel nach "
        "etwa vier Wochen das Nest verlassen. Die Vor- und Nachteile der Brut- und Aufzuchtzeit sind gut "
        "untersucht, auch in Baden-Württemberg, im Süden."
    )


def test_headings_tables_and_items_around_a_paragraph_stay_by_themselves() -> None:
    paragraph = PARAGRAPHS["English"]
    page = f"2 Background\n{paragraph}\nTable 1: Weights\n{LAID_OUT['table']}\n3 Methods\n{paragraph}"
    joined = without_breaks(paragraph, " ")
    assert joined_print(page) == (
        f"2 Background\n{joined}\nTable 1: Weights\n{LAID_OUT['table']}\n3 Methods\n{joined}"
    )
    item = "- hollow trees, in which they breed from spring to summer\nand where they sleep\n- mice"
    assert joined_print(item) == item.replace("\nand", " and")


def test_a_plain_text_that_was_broken_to_a_width_is_joined_but_for_its_code() -> None:
    text = (
        "# Owls\n\n"
        "Owls are birds from the order Strigiformes, which includes over 200\n"
        "species of mostly solitary and nocturnal birds of prey typified by an\n"
        "upright stance, a large, broad head, and binocular vision.\n\n"
        "- The first item is so long that it has to be broken at the end of the\n"
        "  line, which is continued with a hanging indent.\n"
        "- second\n\n"
        "    for owl in forest_of_the_north(): print(owl, owl.weight, of_mice)\n"
        "    return the_number_of_owls_that_were_counted_in_all_the_forests_of\n\n"
        "```\n"
        "owls = the_number_of_owls_that_were_counted_in_all_the_forests_of\n"
        "return the_number_of_owls_that_were_counted_in_all_the_forests_of\n"
        "```\n"
    )
    joined = (
        text.replace("over 200\n", "over 200 ")
        .replace("by an\n", "by an ")
        .replace("the\n  line", "the line")
    )
    assert joined_plain(text) == joined


@pytest.mark.parametrize(
    "text",
    [
        "word " * 40
        + "\nand another paragraph in a line of its own, without a mark at the end\nshort\n"
        + "word " * 50,
        "import asyncio\n\ndef owls(count):\n    return count\n\nowls(3)\nowls(4)",
        "milk\nbread and butter\ntea",
        "\n".join(f"town-{n},{'abcdefgh' * 6},{n * 3645},warm in summer" for n in range(9)),
        "\n".join(f"{n:064x}  owl-{n}.txt" for n in range(9)),
        "",
        "\n\n",
    ],
)
def test_a_plain_text_that_was_not_broken_to_a_width_stays_as_it_is(text: str) -> None:
    assert joined_plain(text) == text


def test_lines_are_joined_in_prose_and_not_in_other_kinds_of_text() -> None:
    text = (
        "Most owls hunt mice at night, when they hear them under the snow and\nfly without a sound to where"
    )
    text += " they are, over fields, meadows and\nthe edges of woods near villages.\n"
    found = {
        kind: read_document(ExtractionJob(MediaKind.TEXT, "http://example.com/", kind, None, text.encode()))
        for kind in (None, "text/plain; charset=utf-8", "text/csv", "text/x-log")
    }
    lines = {kind: document.text.strip().count("\n") for kind, document in found.items()}
    assert lines == {None: 0, "text/plain; charset=utf-8": 0, "text/csv": 2, "text/x-log": 2}


@given(st.text(st.sampled_from("aB1 .-|#\n\t茶。\u00ad"), max_size=400))
def test_nothing_is_lost_but_breaks_and_hyphens(text: str) -> None:
    for joined in (joined_print(text), joined_plain(text)):
        assert "".join(joined.split()).replace("-", "").replace("\u00ad", "") == "".join(
            text.split()
        ).replace("-", "").replace("\u00ad", "")
