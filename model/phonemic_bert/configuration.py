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


def check_neighbours(neighbours: int) -> None:
    """Checks the width of the convolution.

    Raises:
        CheckpointError: it is neither 0 nor an odd number from 3.
    """
    whole = isinstance(neighbours, int) and not isinstance(neighbours, bool)
    if not whole or (neighbours != 0 and not (neighbours > 1 and neighbours % 2)):
        raise CheckpointError(f"neighbours={neighbours!r}: must be 0 or an odd number of at least 3")


def check_bigrams(bigrams: int, name: str = "bigrams") -> None:
    """Checks the rows of a table of bigrams.

    Raises:
        CheckpointError: they are not a number from 0, or more than a checkpoint may have.
    """
    if not isinstance(bigrams, int) or isinstance(bigrams, bool) or not 0 <= bigrams <= SIZES[name]:
        raise CheckpointError(f"{name}={bigrams!r}: must be a number of rows from 0 to {SIZES[name]:,}")


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
        vectors: of the triples in the joint head: ``"composed"`` of the components' as embeddings are, ``"free"``: each
            syllable adds one of its own to that; or ``"tied"``: they are the embeddings, which needs
            ``composition="product"`` or ``"both"``.
        syllables: of the list that a joint head chooses from and a table has rows for: ``"possible"``, all that the
            tokenizer can produce, or ``"attested"``, those of real text: a quarter as many in Vietnamese, and
            so quicker to learn. What is not in the list is predicted as well, by its onset, rime and tone.
        shared_scale: what the projection and the product are multiplied with, 1 (the paper) or less. What syllables
            share moves with each of them, so that an optimizer that takes steps of a fixed size, as Adam does, moves
            it too far; a tenth leaves more to the rows of a table.
        neighbours: 0 (the paper), or the odd width of a residual convolution behind the embeddings' LayerNorm.
        backbone: ``"bert"`` (the paper), or ``"modernbert"``: transformers' ModernBERT, with rotary positions and norms
            before the layers. It takes the shape from BERT's fields; every layer attends to the whole text, and token
            types are not told apart.
        pooling: what the pooler, a part of the heads for whole texts, reads: the state of the ``"first"`` position
            (the paper, as BERT), or the ``"mean"`` of all that the attention mask has. Masked language modelling does
            not train the pooler.
        triples_checksum: checksum of the list of triples that the weights of ``head="joint"`` or
            ``composition="table"`` belong to, written and refused as the vocabulary's.
        bigrams: 0 (the paper), or the rows of a hashed table that has a vector for each two neighbouring positions,
            which is added to what either is composed of.
        forms: ``"none"`` (the paper): ids may say how a position is written (:mod:`phonemic.forms`), and the model
            leaves it aside. ``"joint"``: a vector for the form is added to the embedding, and one softmax predicts
            pairs of a triple and a form, those of real text; ``"conditional"``: a softmax predicts triples, and another
            the form of the triple. These two need ``head="joint"``, ``vectors="tied"`` and ``syllables="attested"``.
        form_dropout: the share of the forms that are dropped while the model is trained, in pretraining as in
            fine-tuning, so that it does not depend on them.
        form_noise: the share of the forms that are exchanged, likewise, for another of the same triple.
        form_bigrams: the rows of another table of bigrams, those of positions with their forms.
        pairs_checksum: checksum of the list of pairs that the weights belong to, written and refused as the
            vocabulary's.
        kwargs: BERT's own fields (``hidden_size``, ``num_hidden_layers``, ``hidden_dropout_prob`` ...), see
            ``transformers.BertConfig``. The defaults are the paper's 12-layer model.

    Raises:
        CheckpointError: the language is unknown, an option is none of its choices, or the vocabulary or the list is not
            that of the installed phonemic.
    """

    model_type = "phonemic-bert"
    #: What Trainer leaves out of predictions: of masked language modelling, all but the logits.
    keys_to_ignore_at_inference = ["past_key_values", "cache", "losses", "best", "sounds"]  # noqa: RUF012

    def __init__(
        self,
        lang: str = "vi",
        vocab_size: int | None = None,
        vocabulary_checksum: str | None = None,
        composition: str = "linear",
        head: str = "independent",
        vectors: str = "composed",
        syllables: str = "possible",
        shared_scale: float = 1.0,
        neighbours: int = 0,
        backbone: str = "bert",
        pooling: str = "first",
        triples_checksum: str | None = None,
        bigrams: int = 0,
        forms: str = "none",
        form_dropout: float = 0.0,
        form_noise: float = 0.0,
        form_bigrams: int = 0,
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
        given = {"composition": composition, "head": head, "vectors": vectors, "syllables": syllables}
        given |= {"backbone": backbone, "pooling": pooling, "forms": forms}
        for name, value in given.items():
            check_choice(name, value)
        if vectors == "tied" and (head != "joint" or composition not in ("product", "both")):
            raise CheckpointError(
                f"vectors='tied' with head={head!r} and composition={composition!r}: only a joint head can be tied, "
                "and only to embeddings that tell triples apart, 'product' or 'both'"
            )
        if forms != "none" and (head, vectors, syllables) != ("joint", "tied", "attested"):
            raise CheckpointError(
                f"forms={forms!r} with head={head!r}, vectors={vectors!r} and syllables={syllables!r}: pairs of a "
                "syllable and its form are predicted by a joint head with tied vectors among attested syllables"
            )
        check_neighbours(neighbours)
        check_bigrams(bigrams)
        check_bigrams(form_bigrams, "form_bigrams")
        check_shares(form_dropout, form_noise)
        if forms == "none" and (form_dropout or form_noise or form_bigrams):
            raise CheckpointError(
                f"form_dropout={form_dropout}, form_noise={form_noise}, form_bigrams={form_bigrams} with forms='none': "
                "the model does not read forms"
            )
        if not isinstance(shared_scale, int | float) or not 0 < shared_scale <= 1:
            raise CheckpointError(f"shared_scale={shared_scale!r}: must be more than 0 and at most 1")
        if backbone == "modernbert" and kwargs.get("hidden_act", "gelu") != "gelu":
            raise CheckpointError(
                f"hidden_act={kwargs['hidden_act']!r} with backbone='modernbert': its layers have gated GELU only"
            )
        has_list = head == "joint" or composition in ("table", "both")
        listed = triples(lang, syllables).checksum if has_list else None
        if triples_checksum not in (None, listed):
            raise CheckpointError(
                f"the checkpoint's list of {syllables} {lang} triples has checksum {triples_checksum}, but that of the "
                f"installed phonemic is {listed}: its rows stand for other syllables. "
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
        self.composition, self.head, self.vectors, self.syllables = composition, head, vectors, syllables
        self.shared_scale, self.neighbours, self.bigrams = float(shared_scale), neighbours, bigrams
        self.backbone, self.pooling = backbone, pooling
        self.triples_checksum = listed
        self.forms, self.form_dropout, self.form_noise = forms, float(form_dropout), float(form_noise)
        self.form_bigrams, self.pairs_checksum = form_bigrams, paired

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
            preset: ``"paper-12"``, ``"paper-6"``, ``"small"``, ``"mini"``, ``"mini-forms-vi"``, ``"mini-forms-zh"``,
                ``"micro"`` or ``"tiny"``.
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
        neighbours: as in ``PhonemicBertConfig``.
        first_id: the id that a document begins with, [CLS].
        tied_head: the head shares its weights with the embedding table.
        pooling: as in ``PhonemicBertConfig``.
        bigrams: as in ``PhonemicBertConfig``.
        kwargs: BERT's fields, from which ModernBERT's shape is taken.

    Raises:
        CheckpointError: ``neighbours`` is neither 0 nor an odd number from 3, ``bigrams`` is not a number of rows, or
            ``pooling`` none of its choices.
    """

    model_type = "phonemic-plain-modernbert"

    def __init__(
        self,
        vocab_size: int = 30522,
        neighbours: int = 0,
        first_id: int = 1,
        tied_head: bool = True,
        pooling: str = "first",
        bigrams: int = 0,
        **kwargs: Any,
    ) -> None:
        check_neighbours(neighbours)
        check_bigrams(bigrams)
        check_choice("pooling", pooling)
        super().__init__(vocab_size=vocab_size, **{"tie_word_embeddings": False, **kwargs})
        self.neighbours, self.bigrams, self.first_id = neighbours, bigrams, first_id
        self.tied_head, self.pooling = tied_head, pooling
