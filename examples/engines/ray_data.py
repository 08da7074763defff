"""Ray Data: the function as it is, under ``map_batches``.

pip install "phonemic[arrow]" "ray[data]"
"""

import logging

import pyarrow as pa
import ray
from plain import TOKENIZER, compare, lines

from phonemic import arrow


def main() -> None:
    """Encodes the lines and compares."""
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    dataset = ray.data.from_arrow(pa.table({"text": lines()})).repartition(2)
    encoded = dataset.map_batches(arrow.encode, fn_kwargs={"tokenizer": TOKENIZER}, batch_format="pyarrow")
    table = pa.concat_tables(ray.get(encoded.to_arrow_refs()))
    compare("Ray Data", table["text"].to_pylist(), table["ids"].to_pylist())


if __name__ == "__main__":
    main()
