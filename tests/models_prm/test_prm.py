"""The model itself: what it may see, what it saves, what it refuses to load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from models_prm.encoding.collate import collate, encode_trees, pieces, sequence
from models_prm.encoding.tokenizer import LABELS
from models_prm.encoding.tree import StepTree, build_trees
from models_prm.errors import ModelError
from models_prm.evaluation.evaluate import tree_labels
from models_prm.prm import CARD, Prm, load_base, load_prm
from models_prm.records import LabeledSolution, ScoringItem
from models_prm.scoring import PrmScorer
from models_prm.training.losses import label_loss, lm_loss
from tests.models_prm.prm_make import random_prm, small_config


def logits(prm: Prm, tree: StepTree) -> torch.Tensor:
    (encoded,) = encode_trees(prm.encoder, [tree])
    (piece,) = pieces(encoded, max_length=256, pack_tokens=256, packing="tree")
    batch = collate([sequence(piece, prm.encoder.step_id)], prm.encoder.pad_id)
    with torch.no_grad():
        return prm.label_logits(prm.hidden(batch), batch)


def test_the_rating_of_an_earlier_step_changes_nothing_later() -> None:
    prm = random_prm()
    good, bad = (
        build_trees([LabeledSolution("q", ("a", "b", "c"), (first, 1, None), "g")])[0] for first in (1, -1)
    )
    assert torch.equal(logits(prm, good), logits(prm, bad))


def test_a_later_step_changes_no_earlier_score() -> None:
    prm = random_prm()
    short, long = StepTree("q"), StepTree("q")
    short.add(["a", "b"])
    long.add(["a", "b", "something else"])
    torch.testing.assert_close(logits(prm, long)[:2], logits(prm, short), atol=1e-6, rtol=0)


def test_alternatives_do_not_see_each_other() -> None:
    prm = random_prm()
    both, alone = StepTree("q"), StepTree("q")
    both.add(["a", "x y z"])
    both.add(["a", "b"])
    alone.add(["a", "b"])
    torch.testing.assert_close(logits(prm, both)[2], logits(prm, alone)[1], atol=1e-6, rtol=0)


def test_label_loss_is_the_mean_over_ratings_and_ignores_unrated_steps(tmp_path: Path) -> None:
    prm = random_prm()
    tree = build_trees([LabeledSolution("q", ("a", "b", "c"), (1, None, -1), "g")])[0]
    (encoded,) = encode_trees(prm.encoder, [tree])
    (piece,) = pieces(encoded, max_length=256, pack_tokens=256, packing="tree")
    batch = collate([sequence(piece, prm.encoder.step_id)], prm.encoder.pad_id)
    with torch.no_grad():
        hidden = prm.hidden(batch)
        log_p = prm.label_logits(hidden, batch).log_softmax(-1)
        plain = label_loss(prm, hidden, batch, small_config(tmp_path, tmp_path))
        weighted = label_loss(
            prm, hidden, batch, small_config(tmp_path, tmp_path, class_weights=(3.0, 1.0, 1.0))
        )
    assert float(plain) == pytest.approx(float(-(log_p[0, 2] + log_p[2, 0]) / 2), rel=1e-5)
    assert float(weighted) == pytest.approx(float(-(log_p[0, 2] + 3 * log_p[2, 0]) / 4), rel=1e-5)


def test_soft_targets_are_not_floored(tmp_path: Path) -> None:
    prm = random_prm()
    tree = StepTree("q")
    tree.add(["a"])
    tree.counts[0] = [0.25, 0.0, 0.75]
    (encoded,) = encode_trees(prm.encoder, [tree])
    (piece,) = pieces(encoded, max_length=256, pack_tokens=256, packing="tree")
    batch = collate([sequence(piece, prm.encoder.step_id)], prm.encoder.pad_id)
    with torch.no_grad():
        hidden = prm.hidden(batch)
        log_p = prm.label_logits(hidden, batch).log_softmax(-1)[0]
        loss = label_loss(prm, hidden, batch, small_config(tmp_path, tmp_path))
    assert float(loss) == pytest.approx(float(-(0.25 * log_p[0] + 0.75 * log_p[2])), rel=1e-5)


def test_language_model_loss_in_a_pack_equals_that_of_the_paths() -> None:
    prm = random_prm()
    paths = [["We add 3 and 4.", "3 + 4 = 7"], ["We add 3 and 4.", "3 + 4 = 8"]]
    tree = StepTree("q")
    for path in paths:
        tree.add(path)
    (encoded,) = encode_trees(prm.encoder, [tree])
    (piece,) = pieces(encoded, max_length=256, pack_tokens=256, packing="tree")
    batch = collate([sequence(piece, prm.encoder.step_id)], prm.encoder.pad_id)
    total, seen = 0.0, 0
    with torch.no_grad():
        packed = float(lm_loss(prm, prm.hidden(batch), batch)) * (len(batch.sequences[0]) - 1)
        for path, skip in zip(paths, (0, len(encoded.prompt) - 1 + len(encoded.nodes[0])), strict=True):
            ids = torch.tensor(
                [[*encoded.prompt, *(i for s in prm.encoder.steps(path, range(2)) for i in s)]]
            )
            out = prm.lm(ids).logits[0, :-1].float().log_softmax(-1)
            losses = -out[torch.arange(ids.shape[1] - 1), ids[0, 1:]]
            total += float(losses[skip:].sum())
            seen += len(losses[skip:])
    assert seen == len(batch.sequences[0]) - 1
    assert packed == pytest.approx(total, rel=1e-4)


def test_a_saved_model_scores_as_before(tmp_path: Path) -> None:
    prm = random_prm()
    prm.save(tmp_path / "m")
    items = [ScoringItem("k", "q", ("a", "b"))]
    (before,) = PrmScorer(prm).score(items)
    (after,) = PrmScorer.load(tmp_path / "m").score(items)
    assert before == after


def test_the_card_and_not_the_order_says_which_token_is_good(tmp_path: Path) -> None:
    prm = random_prm()
    prm.save(tmp_path / "m")
    path = tmp_path / "m" / CARD
    card = json.loads(path.read_text(encoding="utf-8"))
    assert card["classes"] == [-1, 0, 1]
    assert card["label_tokens"] == list(LABELS)
    items = [ScoringItem("k", "q", ("a", "b"))]
    (before,) = PrmScorer.load(tmp_path / "m").score(items)
    card["classes"], card["label_tokens"] = [1, -1, 0], [LABELS[2], LABELS[0], LABELS[1]]
    path.write_text(json.dumps(card), encoding="utf-8")
    (turned,) = PrmScorer.load(tmp_path / "m").score(items)
    assert turned == before
    card["classes"] = [-1, 0, 1]
    path.write_text(json.dumps(card), encoding="utf-8")
    (swapped,) = PrmScorer.load(tmp_path / "m").score(items)
    assert swapped.probs[0] == pytest.approx([before.probs[0][2], before.probs[0][0], before.probs[0][1]])


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (None, "no stepmark_prm.json here"),
        ("{", "damaged"),
        ('{"format": 99}', "format 1 expected"),
        ('{"format": 1, "classes": [0, 1], "label_tokens": ["a", "b"]}', "classes must be -1, 0 and 1"),
    ],
)
def test_a_directory_that_is_no_model_is_refused(tmp_path: Path, card: str | None, message: str) -> None:
    if card is not None:
        (tmp_path / CARD).write_text(card, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        load_prm(tmp_path)


def foreign_base(folder: Path, architecture: str) -> Path:
    """A tiny causal LM of another family, saved as its authors would, without our marks."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(["How many pens has Ada? 3 + 4 = 7"] * 3, trainer=trainer)
    make: Any = transformers.PreTrainedTokenizerFast
    tokenizer = make(tokenizer_object=core, bos_token="<s>", eos_token="</s>")
    torch.manual_seed(0)
    if architecture == "gpt2":
        config: Any = transformers.GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=128,
            n_embd=32,
            n_layer=2,
            n_head=2,
            bos_token_id=0,
            eos_token_id=1,
        )
        lm: Any = transformers.GPT2LMHeadModel(config)
    else:
        kind, model = (
            (transformers.Qwen2Config, transformers.Qwen2ForCausalLM)
            if architecture == "qwen2"
            else (transformers.LlamaConfig, transformers.LlamaForCausalLM)
        )
        config = kind(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=128,
            tie_word_embeddings=architecture == "qwen2",
            bos_token_id=0,
            eos_token_id=1,
        )
        lm = model(config)
    lm.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("architecture", ["qwen2", "llama", "gpt2"])
def test_any_causal_lm_directory_can_be_a_base(tmp_path: Path, architecture: str) -> None:
    lm, encoder = load_base(str(foreign_base(tmp_path, architecture)))
    prm = Prm(lm.eval(), encoder, 128)
    assert encoder.prompts(["q"])[0][0] == encoder.tokenizer.bos_token_id
    items = [ScoringItem(str(i), "How many?", ("a", f"b{i}")[: i % 2 + 1]) for i in range(5)]
    together = {r.key: r.probs for r in PrmScorer(prm).score(items)}
    for item in items:
        (alone,) = PrmScorer(prm, packing="none").score([item])
        for one, two in zip(together[item.key], alone.probs, strict=True):
            assert one == pytest.approx(two, abs=1e-5)


def test_a_base_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot load as a causal language model"):
        load_base(str(tmp_path))


def test_labels_of_unscored_nodes_are_left_out_of_reports() -> None:
    tree = build_trees([LabeledSolution("q", ("a", "b"), (1, -1), "g")])[0]
    values, classes = tree_labels([tree], [[(0.1, 0.2, 0.7), None]])
    assert values.tolist() == [[0.1, 0.2, 0.7]]
    assert classes.tolist() == [2]
