"""Masking for H-MLM."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
from transformers import DataCollatorForLanguageModeling

from phonemic.forms import ESCAPED
from phonemic.inventory import FORM_SHIFT
from phonemic_bert.modeling.composition import check_positions
from phonemic_bert.tokenization import PhonemicBertTokenizer


class HolisticCollator(DataCollatorForLanguageModeling):
    """transformers' own collator, set to what the paper does: every chosen position becomes ``[MASK]``, no 80/10/10.

    A position is one packed id, so a whole triple is masked or none of it, and its form with it. Special and padding
    positions, and [UNK], are never chosen, nor is what is escaped: the bytes behind it would tell it. A batch is
    ``input_ids``, ``attention_mask``, ``token_type_ids`` and ``labels``, int64 (B, N) each; the labels are the packed
    ids where a position was masked and -100 elsewhere.

    With a seed, a batch's masks follow from the seed and the rows in it, and from nothing else: they are the same in
    every worker process and after a run is resumed, and differ from epoch to epoch because shuffling makes other
    batches. (Trainer's data loader fetches a batch ahead, so masks drawn from a running generator do not survive
    resuming.)

    Arguments:
        tokenizer: pads the rows.
        mlm_probability: the share of the positions that are masked; each is drawn independently.
        seed: None draws from torch's generator instead.
        pad_to_multiple_of: row lengths are a multiple of it.
    """

    def __init__(
        self,
        tokenizer: PhonemicBertTokenizer,
        mlm_probability: float = 0.15,
        seed: int | None = 0,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        super().__init__(
            tokenizer,
            mlm_probability=mlm_probability,
            mask_replace_prob=1.0,
            random_replace_prob=0.0,
            pad_to_multiple_of=pad_to_multiple_of,
        )
        # Not transformers' own ``seed``, with which it makes a generator of its own in each process.
        self.masking_seed = seed

    def torch_call(self, examples: list[Any]) -> dict[str, Any]:
        """Pads and masks rows.

        Arguments:
            examples: the rows; each is a dict or BatchEncoding with ``input_ids``, or a list of packed ids.

        Raises:
            ValueError: an id is not a position.
        """
        if self.masking_seed is not None:
            self.generator = self.get_generator(self._seed_of(examples))
        batch: dict[str, Any] = super().torch_call(examples)
        check_positions(batch["input_ids"], len(self.tokenizer))
        return batch

    def torch_mask_tokens(self, inputs: Any, special_tokens_mask: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Masks as transformers does, but passes over what is escaped, too.

        Arguments:
            inputs: packed ids, (B, N).
            special_tokens_mask: 1 for what is never chosen, (B, N); None: the special positions.
            args: what transformers takes.
            kwargs: likewise.
        """
        if special_tokens_mask is None:
            special = self.tokenizer.get_special_tokens_mask
            special_tokens_mask = inputs.new_tensor([special(row, None, True) for row in inputs.tolist()])
        never = special_tokens_mask.bool() | (inputs >> FORM_SHIFT == ESCAPED)
        return super().torch_mask_tokens(inputs, never, *args, **kwargs)

    def _seed_of(self, examples: list[Any]) -> int:
        """64 bits: two checksums of the rows and the seed."""
        rows = [np.asarray(row if isinstance(row, list) else row["input_ids"], np.int64).tobytes() for row in examples]
        data = b"".join([str(self.masking_seed).encode(), *rows])
        return crc32(data) << 32 | crc32(data[::-1])
