"""Texts from files, ids to and from files, in chunks, so that memory does not grow with the file; all writing."""

from phonemic.files.cells import MAX_LINE, text_cells
from phonemic.files.compressed import COMPRESSIONS, Advance, blocks
from phonemic.files.kinds import kind_of
from phonemic.files.packages import require
from phonemic.files.parquet import ids_tokenizer, ids_writer, parquet_file, read_ids
from phonemic.files.texts import CHUNK, limited, read_lines, read_texts
from phonemic.files.writing import naming, replacing

__all__ = [
    "CHUNK",
    "COMPRESSIONS",
    "MAX_LINE",
    "Advance",
    "blocks",
    "ids_tokenizer",
    "ids_writer",
    "kind_of",
    "limited",
    "naming",
    "parquet_file",
    "read_ids",
    "read_lines",
    "read_texts",
    "replacing",
    "require",
    "text_cells",
]
