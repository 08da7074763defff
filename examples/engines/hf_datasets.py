"""Hugging Face datasets: the function as it is, under ``map``, in two processes.

pip install "phonemic[arrow]" datasets
"""

from functools import partial

from datasets import Dataset, disable_progress_bars
from plain import TOKENIZER, compare, lines

from phonemic import arrow


def main() -> None:
    """Encodes the lines and compares."""
    disable_progress_bars()
    dataset = Dataset.from_dict({"text": lines()}).with_format("arrow")
    encoded = dataset.map(partial(arrow.encode, tokenizer=TOKENIZER), batched=True, num_proc=2)
    compare("datasets", encoded.with_format(None)["text"][:], encoded.with_format(None)["ids"][:])


if __name__ == "__main__":
    main()
