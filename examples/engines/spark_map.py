"""Spark: the function as it is, on each batch of ``mapInArrow``.

pip install "phonemic[arrow]" pyspark        # and Java 17 or newer
"""

from collections.abc import Iterator

import pyarrow as pa
from plain import TOKENIZER, compare, lines
from pyspark.sql import SparkSession

from phonemic import arrow

tokenizer = TOKENIZER  # of this script, which Spark sends to its workers; they need not find plain.py


def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function that a Spark worker runs."""
    return (arrow.encode(batch, tokenizer) for batch in batches)


def main() -> None:
    """Encodes the lines and compares."""
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.createDataFrame([(text,) for text in lines()], "text string").repartition(2)
    rows = frame.mapInArrow(encode, "text string, ids array<int>").collect()
    spark.stop()
    compare("Spark", [row.text for row in rows], [row.ids for row in rows])


if __name__ == "__main__":
    main()
