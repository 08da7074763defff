"""DuckDB: the function as it is, as an SQL function over Arrow columns.

pip install "phonemic[arrow]" duckdb
"""

import duckdb
import pyarrow as pa
from plain import TOKENIZER, compare, lines

from phonemic import arrow


def phonemic(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of texts as a column of ids."""
    return arrow.encode(texts, TOKENIZER)


def main() -> None:
    """Encodes the lines and compares."""
    connection = duckdb.connect()
    connection.create_function("phonemic", phonemic, ["VARCHAR"], "INTEGER[]", type="arrow")
    connection.register("texts", pa.table({"text": lines()}))
    rows = connection.sql("SELECT text, phonemic(text) AS ids FROM texts").fetchall()
    compare("DuckDB", *map(list, zip(*rows, strict=True)))


if __name__ == "__main__":
    main()
