"""The plain models are ModernBERT over ids, with the heads and the neighbours of PhonemicBERT."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from torch.nn import functional
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    ModernBertModel,
)

from phonemic_bert import CheckpointError
from phonemic_bert.modeling.modern import modern_config
from phonemic_bert.modeling.plain import PlainModernBertConfig, PlainModernBertForMaskedLM, PlainModernBertModel
from phonemic_bert.pretraining.trainer import separate


def config(**fields):
    shape = {"num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
    return PlainModernBertConfig(**{"vocab_size": 50, **shape, "max_position_embeddings": 64, **fields})


def texts(*lengths):
    """Rows of random ids, each behind [CLS] (1) and before [SEP] (2)."""
    random = np.random.default_rng(0)
    return [torch.tensor([1, *random.integers(4, 50, n).tolist(), 2]) for n in lengths]


def test_without_neighbours_it_is_transformers_modernbert():
    torch.manual_seed(0)
    ours = PlainModernBertModel(config(initializer_range=0.2)).eval()
    plain = ModernBertModel._from_config(modern_config(config()), attn_implementation="sdpa").eval()
    plain.load_state_dict(ours.encoder.state_dict(), strict=False)
    plain.embeddings.tok_embeddings.load_state_dict(ours.embeddings.word_embeddings.state_dict())
    plain.embeddings.norm.load_state_dict(ours.embeddings.norm.state_dict())
    ids = torch.nn.utils.rnn.pad_sequence(texts(9, 4), batch_first=True)
    mask = (ids != 0).long()
    with torch.no_grad():
        want = plain(ids, attention_mask=mask).last_hidden_state
        got = ours(ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(got[mask.bool()], want[mask.bool()], rtol=0, atol=1e-6)


@pytest.mark.parametrize("tied", [True, False])
def test_the_loss_is_the_cross_entropy_of_the_logits(tied):
    torch.manual_seed(0)
    model = PlainModernBertForMaskedLM(config(tied_head=tied, initializer_range=0.2)).eval()
    ids = torch.stack(texts(7, 7))
    labels = torch.where(torch.arange(9) % 3 == 1, ids, -100)
    whole, output = model(ids).logits, model(ids, labels=labels)
    assert whole.shape == (2, 9, 50)
    want = functional.cross_entropy(whole.flatten(0, 1), labels.flatten())
    assert output.loss.item() == pytest.approx(want.item(), rel=1e-5)
    torch.testing.assert_close(output.logits, whole[labels != -100])
    output.loss.backward()
    table, others = model.bert.embeddings.word_embeddings.weight, set(range(50)) - set(ids.flatten().tolist())
    # A tied head reaches the rows of ids that are not in the text, an embedding alone does not.
    assert bool(table.grad[sorted(others)].abs().sum() > 0) == tied
    assert sum(part.numel() for part in model.parameters()) - PlainModernBertModel(config()).num_parameters() == (
        24 * 24 + 24 + 48 + 50 + (0 if tied else 50 * 24) - 24 * 24 - 24
    )


def test_the_configuration_says_what_is_returned():
    asked = config(return_dict=False, output_attentions=True, attn_implementation="eager")
    model = PlainModernBertForMaskedLM(asked).eval()
    ids = torch.stack(texts(6))
    logits, attentions = model(ids)
    assert logits.shape == (1, 8, 50)
    assert len(attentions) == 2
    torch.testing.assert_close(model(ids, return_dict=True).logits, logits)
    loss, *_ = model(ids, labels=ids)
    torch.testing.assert_close(model(ids, labels=ids, return_dict=True).loss, loss)


def test_one_document_however_it_lies():
    torch.manual_seed(0)
    fields = {"conv_kernel_size": 5, "num_bigram_buckets": 100, "initializer_range": 0.2, "attn_implementation": "sdpa"}
    bert = PlainModernBertModel(config(**fields)).eval()
    torch.nn.init.normal_(bert.embeddings.bigrams.table)
    rows = texts(6, 3, 8)
    with torch.no_grad():
        alone = [bert(row[None]).last_hidden_state[0] for row in rows]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        states = bert(padded, attention_mask=(padded != 0).long()).last_hidden_state
        for row, want, got in zip(rows, alone, states, strict=True):
            torch.testing.assert_close(got[: len(row)], want, rtol=0, atol=1e-5)
        lengths = torch.tensor([len(row) for row in rows])
        inputs = {
            "input_ids": torch.cat(rows)[None],
            "position_ids": torch.cat([torch.arange(int(n)) for n in lengths])[None],
            "documents": torch.repeat_interleave(torch.arange(3), lengths)[None],
        }
        packed = bert(**separate(inputs, 0, attention="sdpa")).last_hidden_state[0]
    torch.testing.assert_close(packed, torch.cat(alone), rtol=0, atol=1e-5)


def test_a_masked_id_is_in_no_bigram():
    torch.manual_seed(0)
    embeddings = PlainModernBertModel(config(num_bigram_buckets=100)).eval().embeddings
    torch.nn.init.normal_(embeddings.bigrams.table)
    ids = torch.tensor([[1, 9, 8, 3, 7, 9, 2]])  # [CLS] . . [MASK] . . [SEP]
    with torch.no_grad():
        differ = (embeddings(ids) - embeddings(inputs_embeds=embeddings.word_embeddings(ids))).abs().amax(-1)[0] > 1e-6
    assert differ.tolist() == [False, True, True, False, True, True, False]


@pytest.mark.parametrize(("neighbours", "bigrams"), [(0, 0), (3, 0), (3, 50)])
def test_saved_and_loaded_by_the_auto_classes(neighbours, bigrams, tmp_path):
    torch.manual_seed(0)
    model = PlainModernBertForMaskedLM(
        config(conv_kernel_size=neighbours, num_bigram_buckets=bigrams, tied_head=False)
    ).eval()
    if bigrams:
        torch.nn.init.normal_(model.base_model.embeddings.bigrams.table)
    model.save_pretrained(tmp_path)
    (row,) = texts(5)
    with torch.no_grad():
        assert torch.equal(
            AutoModelForMaskedLM.from_pretrained(tmp_path).eval()(row[None]).logits, model(row[None]).logits
        )
        states = model.base_model(row[None]).last_hidden_state
        assert torch.equal(AutoModel.from_pretrained(tmp_path).eval()(row[None]).last_hidden_state, states)
        for auto in (
            AutoModelForSequenceClassification,
            AutoModelForTokenClassification,
            AutoModelForQuestionAnswering,
            AutoModelForMultipleChoice,
        ):
            loaded = auto.from_pretrained(tmp_path).eval()
            assert type(loaded.base_model) is PlainModernBertModel
            assert torch.equal(loaded.base_model(row[None]).last_hidden_state, states)
            loaded(row[None, None] if auto is AutoModelForMultipleChoice else row[None])


def test_an_even_width_and_a_negative_number_of_rows_are_refused():
    with pytest.raises(CheckpointError, match="conv_kernel_size=2: must be 0 or an odd number of at least 3"):
        config(conv_kernel_size=2)
    with pytest.raises(CheckpointError, match="num_bigram_buckets=-2: must be a number of rows from 0"):
        config(num_bigram_buckets=-2)
