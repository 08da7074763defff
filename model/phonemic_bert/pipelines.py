"""transformers' pipelines where they would not fit PhonemicBERT; with any other model they do what they always do.

``pipeline("fill-mask", model=...)`` ranks whole syllables, and ``pipeline("token-classification", ...)`` gives words as
they stand in the text. :mod:`phonemic_bert.registration` puts both in their tasks' places.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from transformers import FillMaskPipeline, TokenClassificationPipeline

from phonemic.inventory import NATIVE, UNKNOWN, kinds_of
from phonemic_bert.fill_mask import Filling, fill_mask


def _is_ours(model: Any) -> bool:
    return bool(model.config.model_type == "phonemic-bert")


class SyllableFillMaskPipeline(FillMaskPipeline):
    """The task ``fill-mask``, which with PhonemicBERT ranks real syllables: see :func:`phonemic_bert.fill_mask`.

    Called with a text, or a list of texts, and with ``top_k`` (5) and ``targets`` (syllables, the only ones to rank).
    For each ``[MASK]`` it gives a list of dicts: ``score``, the probability among real syllables; ``token``, the packed
    id; ``token_str``, the syllable (Vietnamese spelling, or pinyin), or, of a model with forms, how it is written
    (*Hà*, 门), and then also ``syllable``; ``sequence``, the text with it; ``characters``, in Mandarin, the ones that
    are read so. With one ``[MASK]`` in the text it is that list, with several a list of them.
    """

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Fills the masks of a text, or of several; nothing for an empty list."""
        return [] if _is_ours(self.model) and inputs == [] else super().__call__(inputs, **kwargs)

    def _sanitize_parameters(  # type: ignore[override]
        self, top_k: int | None = None, targets: str | Iterable[str] | None = None, tokenizer_kwargs: Any = None
    ) -> Any:
        if not _is_ours(self.model):
            return super()._sanitize_parameters(top_k, targets, tokenizer_kwargs)
        if tokenizer_kwargs:
            raise ValueError("PhonemicBERT's fill-mask takes no tokenizer_kwargs: truncate the text beforehand")
        given: dict[str, Any] = {} if top_k is None else {"top_k": top_k}
        if targets is not None:
            given["targets"] = [targets] if isinstance(targets, str) else list(targets)
        return {}, given, {}

    def preprocess(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """The text as it is; the model's own function reads it."""
        if not _is_ours(self.model):
            return super().preprocess(inputs, *args, **kwargs)
        if not isinstance(inputs, str):
            raise TypeError(f"fill-mask takes a text, or a list, a dataset or a generator of texts, not {inputs!r}")
        return {"text": inputs}

    def _forward(self, model_inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        if not _is_ours(self.model):
            return super()._forward(model_inputs, **kwargs)
        text = model_inputs["text"]
        if isinstance(text, str):
            return {"found": self.fill(text, **kwargs)}
        return {"found": [self.fill(one, **kwargs) for one in text]}  # transformers has put together a batch

    def fill(self, text: str, **kwargs: Any) -> list[list[dict[str, Any]]]:
        """For each mask of a text, the fillings as the class says."""
        fillings = fill_mask(self.model, self.tokenizer, text, **kwargs)  # type: ignore[arg-type]
        return [[_described(text, filling) for filling in each] for each in fillings]

    def postprocess(self, model_outputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Dicts as the class says."""
        if not _is_ours(self.model):
            return super().postprocess(model_outputs, *args, **kwargs)
        found = model_outputs["found"]
        return found[0] if len(found) == 1 else found


def _is_first(sentence: str, offset_mapping: Any, words: Any) -> Any:
    """Which positions are the first of what they span, and not of white space: bool (N,), or True without offsets.

    Arguments:
        sentence: the text.
        offset_mapping: spans into it, or into words.
        words: of a text that is split into words that of each position, or None; None where it is not split.
    """
    if offset_mapping is None:
        return True
    spans = [(start, end) for start, end in np.asarray(offset_mapping).tolist()]
    if words is None:
        return np.array([span != before and not sentence[slice(*span)].isspace()
                         for before, span in pairwise([(-1, -1), *spans])])  # fmt: skip
    keys = list(zip(words, spans, strict=True))
    return np.array([key != before and key[0] is not None for before, key in pairwise([(None, (-1, -1)), *keys])])


def _described(text: str, filling: Filling) -> dict[str, Any]:
    described: dict[str, Any] = {
        "score": filling.score,
        "token": filling.packed,
        "token_str": filling.text,
        "sequence": text[: filling.start] + filling.text + text[filling.end :],
    }
    if filling.text != filling.syllable:
        described["syllable"] = filling.syllable
    return {**described, "characters": filling.characters} if filling.characters else described


class SyllableTokenClassificationPipeline(TokenClassificationPipeline):
    """The task ``token-classification``, or ``ner``, whose words are the text's own with PhonemicBERT.

    A word, for the strategies that work on words (``first``, ``average``, ``max``), is a syllable, or what is
    together of a foreign word or a number.
    """

    def gather_pre_entities(
        self,
        sentence: str,
        input_ids: Any,
        scores: Any,
        offset_mapping: Any,
        special_tokens_mask: Any,
        *args: Any,
        **kwargs: Any,
    ) -> list[dict[str, Any]]:
        """The positions with their text, unknown characters as well, and which of them continues with a word."""
        given = (sentence, input_ids, scores, offset_mapping)
        if not _is_ours(self.model):
            return super().gather_pre_entities(*given, special_tokens_mask, *args, **kwargs)
        kinds = kinds_of(np.asarray(input_ids, np.int32))
        words = kwargs.get("word_ids", args[1] if len(args) > 1 else None)
        special = np.where((kinds == UNKNOWN) & _is_first(sentence, offset_mapping, words), 0, special_tokens_mask)
        with catch_warnings():  # that it does not know words, which it is told below
            simplefilter("ignore", UserWarning)
            found: list[dict[str, Any]] = super().gather_pre_entities(*given, special, *args, **kwargs)
        native = kinds == NATIVE
        last = None
        for entity in found:
            start, end, at = entity["start"], entity["end"], entity["index"]
            if start is None:  # no offsets were requested
                continue
            entity["word"] = sentence[start:end]
            entity["is_subword"] = bool(
                last is not None
                and last["end"] == start
                and not native[at]
                and not native[last["index"]]
                and (sentence[start - 1] + entity["word"]).isalnum()
            )
            last = entity
        return found

    def postprocess(self, all_outputs: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Entities with the text that they span."""
        sentence = all_outputs[0]["sentence"]
        entities = super().postprocess(all_outputs, *args, **kwargs)
        if _is_ours(self.model):
            for entity in entities:
                if entity["start"] is not None:
                    entity["word"] = sentence[entity["start"] : entity["end"]]
        return entities
