"""The configurations of PhonemicBERT (BERT's own, a language, what goes beyond the paper) and of the plain models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from transformers import BertConfig

from phonemic.inventory import LANGUAGES, vocabulary
from phonemic_bert.checkpoints import keep_name, resolve
from phonemic_bert.errors import CheckpointError
from phonemic_bert.pairs import pairs
from phonemic_bert.shapes import CHOICES, COMPONENTS, PRESETS
from phonemic_bert.triples import triples
from phonemic_bert.untrusted import CONFIG, SIZES, check_config, check_folder, loading

__all__ = ["CHOICES", "COMPONENTS", "PRESETS", "PhonemicBertConfig", "PlainModernBertConfig"]


def check_kernel_size(conv_kernel_size: int) -> None:
    """Checks the width of the convolution.

    Raises:
        CheckpointError: it is neither 0 nor an odd number from 3.
    """
    whole = isinstance(conv_kernel_size, int) and not isinstance(conv_kernel_size, bool)
    if not whole or (conv_kernel_size != 0 and not (conv_kernel_size > 1 and conv_kernel_size % 2)):
        raise CheckpointError(f"conv_kernel_size={conv_kernel_size!r}: must be 0 or an odd number of at least 3")


def check_buckets(buckets: int, name: str = "num_bigram_buckets") -> None:
    """Checks the rows of a table of bigrams.

    Raises:
        CheckpointError: they are not a number from 0, or more than a checkpoint may have.
    """
    if not isinstance(buckets, int) or isinstance(buckets, bool) or not 0 <= buckets <= SIZES[name]:
        raise CheckpointError(f"{name}={buckets!r}: must be a number of rows from 0 to {SIZES[name]:,}")


def check_shares(form_dropout: float, form_noise: float) -> None:
    """Checks the shares of the forms that are dropped and exchanged.

    Raises:
        CheckpointError: one is not a number from 0 to 1, or both together are more than 1.
    """
    for name, share in (("form_dropout", form_dropout), ("form_noise", form_noise)):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise CheckpointError(f"{name}={share!r}: must be a number from 0 to 1")
    if form_dropout + form_noise > 1:
        raise CheckpointError(f"form_dropout={form_dropout}, form_noise={form_noise}: together they are at most 1")


def check_choice(name: str, value: object) -> None:
    """Checks that an option is one of its choices.

    Raises:
        CheckpointError: it is not.
    """
    if value not in CHOICES[name]:
        raise CheckpointError(f"{name}={value!r}: choose one of {', '.join(CHOICES[name])}")


class PhonemicBertConfig(BertConfig):
    """Configuration of every PhonemicBERT model.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        vocab_size: entries of the embedding table: 256 for Vietnamese, 112 for Mandarin, and nothing else.
        vocabulary_checksum: checksum of the vocabulary that the weights belong to (``Vocabulary.checksum``). It is
            written into ``config.json``; a checkpoint whose vocabulary is not this version's is refused.
        composition: what a position's embedding is: ``"linear"``, the paper's projection of the three components'
            embeddings; ``"product"``, plus M(A[onset] * B[rime] * C[tone]); ``"table"``, plus a vector for each triple;
            ``"both"``, plus both.
        head: ``"independent"``, the paper's three heads; ``"joint"``, one softmax over a list of triples.
        output_embeddings: the vectors of the triples in the joint head: ``"composed"`` of the components' as embeddings
            are; ``"untied"``, which adds a vector to each syllable's; or ``"tied"`` to the embeddings, which needs
            ``composition="product"`` or ``"both"``.
        syllable_inventory: the syllables that a joint head chooses from and a table has rows for: ``"full"``, all that
            the tokenizer can produce, or ``"attested"``, those of real text: a quarter as many in Vietnamese, and so
            quicker to learn. Other syllables are predicted as well, by their onset, rime and tone.
        component_scale: the factor of the projection and the product, 1 (the paper) or less. The part that syllables
            share moves with each of them, so that an optimizer that takes steps of a fixed size, as Adam does, moves
            it too far; a tenth leaves more to the rows of a table.
        conv_kernel_size: 0 (the paper), or the odd width of a residual convolution behind the embeddings' LayerNorm.
        backbone: ``"bert"`` (the paper), or ``"modernbert"``: transformers' ModernBERT, with rotary positions and norms
            before the layers. It takes the shape from BERT's fields; every layer attends to the whole text, and token
            types are not told apart.
        pooling: what the pooler, a part of the heads for whole texts, reads: the state of the ``"first"`` position
            (the paper, as BERT), or the ``"mean"`` of all that the attention mask has. Masked language modelling does
            not train the pooler.
        triples_checksum: checksum of the list of triples that the weights of ``head="joint"`` or
            ``composition="table"`` belong to, written and refused as the vocabulary's.
        num_bigram_buckets: 0 (the paper), or the rows of a hashed table with a vector for each two adjacent positions,
            which is added to the embeddings of both.
        forms: ``"none"`` (the paper): ids may say how a position is written (:mod:`phonemic.forms`), and the model
            leaves it aside. ``"joint"``: a vector for the form is added to the embedding, and one softmax predicts
            pairs of a triple and a form, those of real text; ``"conditional"``: a softmax predicts triples, and another
            the form of the triple. These two need ``head="joint"``, ``output_embeddings="tied"`` and
            ``syllable_inventory="attested"``.
        form_dropout: the share of the forms that are dropped while the model is trained, in pretraining as in
            fine-tuning, so that it does not depend on them.
        form_noise: the share of the forms that are exchanged, likewise, for another of the same triple.
        num_form_bigram_buckets: the rows of another table of bigrams, those of positions with their forms.
        pairs_checksum: checksum of the list of pairs that the weights belong to, written and refused as the
            vocabulary's.
        kwargs: BERT's own fields (``hidden_size``, ``num_hidden_layers``, ``hidden_dropout_prob`` ...), see
            ``transformers.BertConfig``. The defaults are the paper's 12-layer model.

    Raises:
        CheckpointError: the language is unknown, an option is not one of its choices, or the vocabulary or the list is
            not that of the installed phonemic.
    """

    model_type = "phonemic-bert"
    #: Outputs that Trainer leaves out of predictions: of masked language modelling, all but the logits.
    keys_to_ignore_at_inference = ["past_key_values", "cache", "losses", "best", "sounds"]  # noqa: RUF012

    def __init__(
        self,
        lang: str = "vi",
        vocab_size: int | None = None,
        vocabulary_checksum: str | None = None,
        composition: str = "linear",
        head: str = "independent",
        output_embeddings: str = "composed",
        syllable_inventory: str = "full",
        component_scale: float = 1.0,
        conv_kernel_size: int = 0,
        backbone: str = "bert",
        pooling: str = "first",
        triples_checksum: str | None = None,
        num_bigram_buckets: int = 0,
        forms: str = "none",
        form_dropout: float = 0.0,
        form_noise: float = 0.0,
        num_form_bigram_buckets: int = 0,
        pairs_checksum: str | None = None,
        **kwargs: Any,
    ) -> None:
        if lang not in LANGUAGES:
            raise CheckpointError(f"unknown language {lang!r}: choose one of {', '.join(LANGUAGES)}")
        symbols = vocabulary(lang)
        if vocab_size not in (None, len(symbols)):
            raise CheckpointError(f"vocab_size={vocab_size}, but the {lang} vocabulary has {len(symbols)} symbols")
        if vocabulary_checksum not in (None, symbols.checksum):
            raise CheckpointError(
                f"the checkpoint's {lang} vocabulary has checksum {vocabulary_checksum}, but that of the installed "
                f"phonemic is {symbols.checksum}: the ids stand for other symbols. "
                "Use the phonemic version that made the checkpoint"
            )
        given = {"composition": composition, "head": head, "output_embeddings": output_embeddings}
        given |= {"syllable_inventory": syllable_inventory, "backbone": backbone, "pooling": pooling, "forms": forms}
        for name, value in given.items():
            check_choice(name, value)
        if output_embeddings == "tied" and (head != "joint" or composition not in ("product", "both")):
            raise CheckpointError(
                f"output_embeddings='tied' with head={head!r} and composition={composition!r}: only a joint head can "
                "be tied, and only to embeddings that tell triples apart, 'product' or 'both'"
            )
        if forms != "none" and (head, output_embeddings, syllable_inventory) != ("joint", "tied", "attested"):
            raise CheckpointError(
                f"forms={forms!r} with head={head!r}, output_embeddings={output_embeddings!r} and "
                f"syllable_inventory={syllable_inventory!r}: pairs of a syllable and its form are predicted by a joint "
                "head with tied output embeddings among attested syllables"
            )
        check_kernel_size(conv_kernel_size)
        check_buckets(num_bigram_buckets)
        check_buckets(num_form_bigram_buckets, "num_form_bigram_buckets")
        check_shares(form_dropout, form_noise)
        if forms == "none" and (form_dropout or form_noise or num_form_bigram_buckets):
            raise CheckpointError(
                f"form_dropout={form_dropout}, form_noise={form_noise} and "
                f"num_form_bigram_buckets={num_form_bigram_buckets} with forms='none': the model does not read forms"
            )
        if not isinstance(component_scale, int | float) or not 0 < component_scale <= 1:
            raise CheckpointError(f"component_scale={component_scale!r}: must be more than 0 and at most 1")
        if backbone == "modernbert" and kwargs.get("hidden_act", "gelu") != "gelu":
            raise CheckpointError(
                f"hidden_act={kwargs['hidden_act']!r} with backbone='modernbert': its layers have gated GELU only"
            )
        has_list = head == "joint" or composition in ("table", "both")
        listed = triples(lang, syllable_inventory).checksum if has_list else None
        if triples_checksum not in (None, listed):
            raise CheckpointError(
                f"the checkpoint's list of {syllable_inventory} {lang} triples has checksum {triples_checksum}, but "
                f"that of the installed phonemic is {listed}: its rows stand for other syllables. "
                "Use the phonemic version that made the checkpoint"
            )
        paired = None if forms == "none" else pairs(lang).checksum
        if pairs_checksum not in (None, paired):
            raise CheckpointError(
                f"the checkpoint's list of {lang} pairs has checksum {pairs_checksum}, but that of the installed "
                f"phonemic is {paired}: its rows stand for other written forms. "
                "Use the phonemic version that made the checkpoint"
            )
        # The embedding table is not tied to the prediction heads: each head has weights of its own.
        super().__init__(vocab_size=len(symbols), **{"tie_word_embeddings": False, **kwargs})
        self.lang = lang
        self.vocabulary_checksum = symbols.checksum
        self.composition, self.head = composition, head
        self.output_embeddings, self.syllable_inventory = output_embeddings, syllable_inventory
        self.component_scale, self.conv_kernel_size = float(component_scale), conv_kernel_size
        self.num_bigram_buckets, self.num_form_bigram_buckets = num_bigram_buckets, num_form_bigram_buckets
        self.backbone, self.pooling = backbone, pooling
        self.triples_checksum = listed
        self.forms, self.form_dropout, self.form_noise = forms, float(form_dropout), float(form_noise)
        self.pairs_checksum = paired

    @classmethod
    def get_config_dict(cls, pretrained_model_name_or_path: Any, **kwargs: Any) -> Any:
        """The settings that ``from_pretrained`` reads.

        Arguments:
            pretrained_model_name_or_path: a folder, the name of an installed checkpoint, or that of a model on a hub.
            kwargs: what ``transformers.BertConfig`` takes.

        Raises:
            CheckpointError: a folder's configuration is damaged, or says what no checkpoint may say.
        """
        where = resolve(pretrained_model_name_or_path)
        if where is not None and os.path.isdir(where):
            check_folder(Path(where))
        return super().get_config_dict(where, **kwargs)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        """Loads the configuration of a checkpoint.

        Arguments:
            pretrained_model_name_or_path: a folder, the name of an installed checkpoint, or that of a model on a hub.
            args: what ``transformers.BertConfig`` takes.
            kwargs: what ``transformers.BertConfig`` takes.

        Raises:
            CheckpointError: it is damaged, or not one for the installed phonemic.
        """
        where = resolve(pretrained_model_name_or_path)
        with loading(pretrained_model_name_or_path):
            found = super().from_pretrained(where, *args, **kwargs)
        return keep_name(found, pretrained_model_name_or_path, where)

    @classmethod
    def from_dict(cls, config_dict: dict[str, Any], **kwargs: Any) -> Any:
        """The configuration that a file describes.

        Arguments:
            config_dict: the fields by name.
            kwargs: fields that win over the file's.

        Raises:
            CheckpointError: a field is of the wrong type, or says what no checkpoint may say.
        """
        where = os.path.join(kwargs.get("name_or_path") or "", CONFIG)  # AutoConfig says it
        with loading(where):
            check_config(config_dict, where)
            return super().from_dict(config_dict, **kwargs)

    @classmethod
    def from_preset(cls, preset: str, lang: str = "vi", **kwargs: Any) -> PhonemicBertConfig:
        """The configuration of a named encoder.

        Arguments:
            preset: ``"paper-12"``, ``"paper-6"``, ``"small"``, ``"mini-sound"``, ``"mini-vi"``, ``"mini-zh"``,
                ``"micro"`` or ``"paper-tiny"``.
            lang: ``"vi"`` or ``"zh"``.
            kwargs: any other field, which wins over the preset's.

        Raises:
            ValueError: there is no such preset.
        """
        if preset not in PRESETS:
            raise ValueError(f"unknown preset {preset!r}: choose one of {', '.join(PRESETS)}")
        return cls(lang, **{**PRESETS[preset], **kwargs})


class PlainModernBertConfig(BertConfig):
    """Configuration of the plain models, see :mod:`phonemic_bert.modeling.plain`.

    Arguments:
        vocab_size: entries of the embedding table, special symbols included.
        conv_kernel_size: as in ``PhonemicBertConfig``.
        first_id: the id that a document begins with, [CLS].
        tied_head: the head shares its weights with the embedding table.
        pooling: as in ``PhonemicBertConfig``.
        num_bigram_buckets: as in ``PhonemicBertConfig``.
        kwargs: BERT's fields, from which ModernBERT's shape is taken.

    Raises:
        CheckpointError: ``conv_kernel_size`` is neither 0 nor an odd number from 3, ``num_bigram_buckets`` is not a
            number of rows, or ``pooling`` is not one of its choices.
    """

    model_type = "phonemic-plain-modernbert"

    def __init__(
        self,
        vocab_size: int = 30522,
        conv_kernel_size: int = 0,
        first_id: int = 1,
        tied_head: bool = True,
        pooling: str = "first",
        num_bigram_buckets: int = 0,
        **kwargs: Any,
    ) -> None:
        check_kernel_size(conv_kernel_size)
        check_buckets(num_bigram_buckets)
        check_choice("pooling", pooling)
        super().__init__(vocab_size=vocab_size, **{"tie_word_embeddings": False, **kwargs})
        self.conv_kernel_size, self.num_bigram_buckets, self.first_id = conv_kernel_size, num_bigram_buckets, first_id
        self.tied_head, self.pooling = tied_head, pooling
