"""Polars: the function as it is, on a frame's Arrow table and, batch by batch, in a lazy query.

pip install "phonemic[arrow]" polars
"""

import polars as pl
from plain import TOKENIZER, compare, lines

from phonemic import arrow


def encode(texts: pl.Series) -> pl.Series:
    """A column of texts as a column of ids."""
    return pl.Series(arrow.encode(texts.to_arrow(), TOKENIZER))


def main() -> None:
    """Encodes the lines and compares."""
    frame = pl.DataFrame({"text": lines()})
    table = arrow.encode(frame.to_arrow(), TOKENIZER)
    compare("Polars, table", table["text"].to_pylist(), table["ids"].to_pylist())
    lazy = frame.lazy().with_columns(ids=pl.col("text").map_batches(encode, return_dtype=pl.List(pl.Int32)))
    found = lazy.collect()
    compare("Polars, lazy", found["text"].to_list(), found["ids"].to_list())


if __name__ == "__main__":
    main()
