"""Turn the texts in demo/pdf/ into the PDFs of the demo site, one A4 page for each file.

Run from the checkout, after changing a text: `python demo/make_pdf.py`. The file `en-insulation.txt`
becomes `demo/site/en/insulation.pdf`. Only characters of Windows-1252 can be written, because the
pages use the built-in Helvetica and embed no font.
"""

from pathlib import Path

from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject

DEMO = Path(__file__).parent
A4 = (595.0, 842.0)  # points
MARGIN, FONT_SIZE, LEADING = 60, 11, 15


def content(lines: list[str]) -> bytes:
    """The drawing commands for one page of text; the first line is its heading."""
    escaped = (line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines)
    shown = [f"({line}) Tj T*" for line in escaped]
    start = f"BT /F1 {FONT_SIZE} Tf {LEADING} TL {MARGIN} {A4[1] - MARGIN} Td"
    return "\n".join([start, *shown, "ET"]).encode("cp1252")


def font() -> DictionaryObject:
    """Helvetica, which every PDF reader brings along."""
    names = {
        "/Type": "/Font",
        "/Subtype": "/Type1",
        "/BaseFont": "/Helvetica",
        "/Encoding": "/WinAnsiEncoding",
    }
    return DictionaryObject({NameObject(key): NameObject(value) for key, value in names.items()})


def write_pdf(text: str, target: Path) -> None:
    """Write `text` as a PDF of one page."""
    writer = PdfWriter()
    page = writer.add_blank_page(*A4)
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font())})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = StreamObject()
    stream.set_data(content(text.splitlines()))
    page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())
    writer.add_metadata({"/Title": text.splitlines()[0]})
    writer.write(target)


def main() -> None:
    """Make every PDF again."""
    for source in sorted((DEMO / "pdf").glob("*.txt")):
        language, _, name = source.stem.partition("-")
        write_pdf(source.read_text("utf-8"), DEMO / "site" / language / f"{name}.pdf")


if __name__ == "__main__":
    main()
