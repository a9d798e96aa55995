"""A PDF file from its objects, for the files that tests and measurements make."""

import zlib
from collections.abc import Sequence

HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf_file(objects: Sequence[bytes], *, trailer: bytes = b"") -> bytes:
    """A file whose first object is its catalog; `trailer` holds further entries, such as `/Info 6 0 R`."""
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    entries = b"/Size %d /Root 1 0 R %s" % (len(objects) + 1, trailer)
    return bytes(out + b"trailer << %s >>\nstartxref\n%d\n%%%%EOF\n" % (entries, start))


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """A compressed stream with its dictionary."""
    packed = zlib.compress(content)
    return b"<< /Filter /FlateDecode /Length %d %s >>\nstream\n%s\nendstream" % (len(packed), entries, packed)


def text_pages(pages: Sequence[Sequence[str]], *, catalog: bytes = b"", title: str = "") -> bytes:
    """A file with one page for each sequence of lines, in characters of Latin-1 without brackets.

    Args:
        pages: Lines of each page.
        catalog: Further entries of the catalog, such as `/Lang (en)`.
        title: Title of the document; none if empty.
    """
    kids = b" ".join(b"%d 0 R" % (5 + 2 * number) for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        HELVETICA,
        b"<< /Title (%s) >>" % title.encode("latin-1") if title else b"<< >>",
    ]
    for lines in pages:
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (len(objects) + 2)
        )
        objects.append(stream(f"BT /F1 11 Tf 13 TL 40 800 Td {shown} ET".encode("latin-1")))
    return pdf_file(objects, trailer=b"/Info 4 0 R")


def scanned_page(pixels: bytes) -> bytes:
    """A file whose only page is a grey picture of eight by eight pixels."""
    picture = b"/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8"
    return pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /XObject << /I 5 0 R >> >> >>",
            stream(b"q 600 0 0 780 6 6 cm /I Do Q"),
            stream(pixels, picture),
        ]
    )
