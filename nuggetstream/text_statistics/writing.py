"""Statistics of texts as files: text.json, texts.csv and groups.csv."""

from dataclasses import asdict
from pathlib import Path

from nuggetstream.files.table_writing import write_csv
from nuggetstream.files.texts import TextFiles
from nuggetstream.files.writing import write_json
from nuggetstream.text_statistics.study import TextStudy


def write_texts(study: TextStudy, files: TextFiles, out: Path) -> list[Path]:
    """Write text.json (means and what they are computed from), texts.csv and groups.csv.

    Args:
        study: The study to write.
        files: The files that were read.
        out: Folder, made if it does not exist.

    Returns:
        The paths written.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    content = {
        "rests_on": {
            "files": list(files.paths),
            "texts": len(study.texts),
            "without_text": files.without_text,
            "repeated": files.repeated,
            "language": study.language,
            "first_source": study.first,
        },
        "groups": [asdict(means) for means in study.groups],
        "overall": asdict(study.overall),
    }
    return [
        write_json(out / "text.json", content),
        write_csv(out / "texts.csv", study.texts_table()),
        write_csv(out / "groups.csv", study.table()),
    ]
