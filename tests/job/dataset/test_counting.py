"""Counts against the tokenizer's own encoding of the same texts."""

from __future__ import annotations

import csv
import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suanpei.errors import InputError
from suanpei.job.dataset import CountRequest, DatasetStats, count_dataset
from tests.job.dataset.small_tokenizer import build_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from tokenizers import Tokenizer

TEXTS = ["the quick brown fox", "训练一个模型需要多少显存", "a", "lazy dog " * 40, ""]


def encode(tokenizer: Tokenizer, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def write_lines(path: Path, records: list[Any], encoding: str = "utf-8") -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding=encoding)
    return path


def write_bytes(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_jsonl_is_counted_exactly(tmp_path: Path, tokenizer: Tokenizer, tokenizer_file: Path) -> None:
    path = write_lines(tmp_path / "数据.jsonl", [{"text": text} for text in TEXTS])
    stats = count_dataset([path], tokenizer_file)
    counts = [encode(tokenizer, text) for text in TEXTS]
    assert stats.tokens == stats.low_tokens == stats.high_tokens == sum(counts)
    assert stats.is_exact
    assert (stats.records, stats.sampled_records) == (5, 5)
    assert (stats.longest.record, stats.longest.tokens) == (4, max(counts))
    assert stats.mean_tokens == sum(counts) / 5
    assert stats.median_tokens == sorted(counts)[2]
    assert stats.p99_tokens == max(counts)
    assert sum(each.records for each in stats.histogram) == 5
    assert stats.vocab == tokenizer.get_vocab_size()


def formats(folder: Path) -> list[Path]:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    records = [{"text": text, "id": index} for index, text in enumerate(TEXTS)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    with (folder / "d.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text"])
        writer.writerows([index, text] for index, text in enumerate(TEXTS))
    parquet.write_table(pyarrow.Table.from_pylist(records), folder / "e.parquet")
    return [
        write_lines(folder / "a.jsonl", records),
        write_bytes(folder / "b.json", json.dumps(records).encode()),
        write_bytes(folder / "c.json", json.dumps({"version": "1", "data": records}).encode()),
        folder / "d.csv",
        folder / "e.parquet",
        write_lines(folder / "f.json", records),
        write_bytes(folder / "g.jsonl.gz", gzip.compress(lines.encode())),
        write_bytes(folder / "h.jsonl", b"\xef\xbb\xbf" + lines.replace("\n", "\r\n\r\n").encode()),
        write_lines(folder / "i.jsonl", records, encoding="gbk"),
        write_bytes(folder / "j.jsonl", lines.rstrip("\n").encode()),
    ]


def test_every_format_gives_the_same_count(tmp_path: Path, tokenizer: Tokenizer, tokenizer_file: Path) -> None:
    expected = sum(encode(tokenizer, text) for text in TEXTS)
    for path in formats(tmp_path):
        stats = count_dataset([path], tokenizer_file)
        assert (path.name, stats.tokens, stats.records) == (path.name, expected, 5)
    together = count_dataset([tmp_path], tokenizer_file)
    assert together.tokens == 10 * expected
    assert len(together.files) == 10
    assert count_dataset([str(tmp_path / "*.json")], tokenizer_file).records == 15


def test_gbk_is_said(tmp_path: Path, tokenizer_file: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"text": "显存" * 10}], encoding="gbk")
    stats = count_dataset([path], tokenizer_file)
    assert stats.files[0].encoding == "gb18030"
    assert any("GBK" in str(note) for note in stats.notes)


def test_text_lines_are_records(tmp_path: Path, tokenizer: Tokenizer, tokenizer_file: Path) -> None:
    path = write_bytes(tmp_path / "a.txt", "the fox\n\n训练\n".encode())
    stats = count_dataset([path], tokenizer_file)
    assert stats.records == 2
    assert stats.tokens == encode(tokenizer, "the fox") + encode(tokenizer, "训练")
    assert stats.longest.record in (1, 3)


@pytest.mark.parametrize(
    ("record", "texts"),
    [
        ({"content": "the fox"}, "the fox"),
        ({"正文": "the fox", "id": 3}, "the fox"),
        ({"whatever": "the fox", "id": 3}, "the fox"),
        (
            {"messages": [{"role": "user", "content": "the"}, {"role": "assistant", "content": "fox"}]},
            "user: the\nassistant: fox\n",
        ),
        (
            {"conversations": [{"from": "human", "value": "the"}, {"from": "gpt", "value": "fox"}]},
            "user: the\nassistant: fox\n",
        ),
        ({"instruction": "the", "input": "", "output": "fox"}, "user: the\nassistant: fox\n"),
        (
            {"instruction": "the", "input": "dog", "output": "fox", "system": "a", "history": [["b", "c"]]},
            "system: a\nuser: b\nassistant: c\nuser: the\ndog\nassistant: fox\n",
        ),
        ({"指令": "the", "输入": "dog", "输出": "fox"}, "user: the\ndog\nassistant: fox\n"),
        ({"prompt": "the", "response": "fox"}, "user: the\nassistant: fox\n"),
        ({"question": "the", "answer": None}, "user: the\nassistant: \n"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "the"}, {"type": "image"}]}]},
            "user: the\n",
        ),
    ],
)
def test_layouts(tmp_path: Path, tokenizer: Tokenizer, tokenizer_file: Path, record: Any, texts: str) -> None:
    stats = count_dataset([write_lines(tmp_path / "a.jsonl", [record, record])], tokenizer_file)
    assert stats.tokens == 2 * encode(tokenizer, texts)


@pytest.mark.parametrize(
    ("special", "expected"),
    [
        (("<|im_start|>", "<|im_end|>"), "<|im_start|>user\nthe<|im_end|>\n<|im_start|>assistant\nfox<|im_end|>\n"),
        (
            ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
            (
                "<|start_header_id|>user<|end_header_id|>\n\nthe<|eot_id|>"
                "<|start_header_id|>assistant<|end_header_id|>\n\nfox<|eot_id|>"
            ),
        ),
    ],
)
def test_turns_are_written_with_the_marks_of_the_vocabulary(
    tmp_path: Path, special: tuple[str, ...], expected: str
) -> None:
    chat = build_tokenizer(special=special)
    chat.save(str(tmp_path / "tokenizer.json"))
    path = write_lines(tmp_path / "a.jsonl", [{"question": "the", "answer": "fox"}])
    assert count_dataset([path], tmp_path).tokens == encode(chat, expected)


def test_field_is_chosen(tmp_path: Path, tokenizer: Tokenizer, tokenizer_file: Path) -> None:
    record = {"title": "the", "body": "fox", "meta": {"note": "dog"}}
    path = write_lines(tmp_path / "a.jsonl", [record])
    for field, text in (("title", "the"), ("title,body", "the\nfox"), ("meta.note", "dog")):
        assert count_dataset([path], tokenizer_file, CountRequest(field=field)).tokens == encode(tokenizer, text)


def test_fields_left_out_are_said(tmp_path: Path, tokenizer_file: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"text": "the fox", "abstract": "a text of some length"}])
    assert any("not counted: abstract" in str(note) for note in count_dataset([path], tokenizer_file).notes)


GOOD = b'{"text": "a"}\n'


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", GOOD + GOOD + b'{"text": "b"\n' + GOOD, "a.jsonl, line 3: not valid JSON"),
        ("a.jsonl", b"", "the file is empty"),
        ("a.jsonl", b"\n\n  \n", "no record in it"),
        ("a.jsonl", b"\x00\x01\x02", "a binary file"),
        ("a.jsonl", "text".encode("utf-16"), "UTF-16"),
        ("a.jsonl", b'{"a": "x", "b": "y"}\n', "which field is the text? It has a, b; name it with --field"),
        ("a.jsonl", b'{"prompt": "p", "chosen": "x", "rejected": "y"}\n', "It has prompt, chosen, rejected"),
        ("a.jsonl", b"[1]\n", "a record must be text or have named fields"),
        ("a.jsonl", GOOD + b"17\n", "record 2: a record must be text"),
        ("a.jsonl", GOOD + b'{"txet": "a"}\n', "record 2: no field text"),
        ("a.jsonl", b'{"text": ["a"]}\n', "which field is the text?"),
        ("a.jsonl", GOOD + b'{"text": {"a": 1}}\n', "record 2: expected text"),
        ("a.jsonl", GOOD + b'{"text": "' + b"[" * 9 + b"\xff\xff" + b'"}\n', "neither UTF-8 nor GBK"),
        ("a.json", b'[{"text": "a"},\n {"text": }]', "line 2: not valid JSON"),
        ("a.json", b"[" * 200_000, "not valid JSON"),
        ("a.json", b'"words"', "expected a list of records"),
        ("a.csv", b"text,id\na,1\nb,2,3\n", "a.csv, line 3: 3 columns where the header has 2"),
        ("a.csv", b'text,id\n"a,1\n', "not valid CSV"),
        ("a.csv", b"text,id\n", "no record in it"),
        ("a.parquet", b"PAR1 but not really", "not a valid parquet file"),
        ("a.jsonl.gz", b"not compressed", "cannot be read"),
        ("a.docx", b"x", "unknown kind of file; it takes .jsonl"),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, tokenizer_file: Path, name: str, content: bytes, expected: str) -> None:
    path = write_bytes(tmp_path / name, content)
    with pytest.raises(InputError, match=r"^[^\n]*$") as caught:
        count_dataset([path], tokenizer_file)
    assert expected in str(caught.value)
    assert name in str(caught.value)


def test_half_a_character_counts_as_one_unknown(tmp_path: Path, tokenizer_file: Path) -> None:
    whole = count_dataset([write_bytes(tmp_path / "a.jsonl", b'{"text": "a?b"}\n')], tokenizer_file)
    half = count_dataset([write_bytes(tmp_path / "b.jsonl", b'{"text": "a\\ud800b"}\n')], tokenizer_file)
    assert half.tokens == whole.tokens


def test_nothing_matches(tmp_path: Path, tokenizer_file: Path) -> None:
    for pattern, expected in ((tmp_path / "*.jsonl", "no file matches"), (tmp_path, "no data file in this folder")):
        with pytest.raises(InputError, match=expected):
            count_dataset([pattern], tokenizer_file)
    with pytest.raises(InputError, match="no file given"):
        count_dataset([], tokenizer_file)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("tokenizer.json", b'{"model": 1}', "not a tokenizer of the tokenizers library"),
        ("tokenizer.json", b"\xff\xfe", "not a tokenizer of the tokenizers library"),
        ("tokenizer.model", b"x", "not a tokenizer.json"),
        (None, b"", "no such file"),
    ],
)
def test_wrong_tokenizer(tmp_path: Path, name: str | None, content: bytes, expected: str) -> None:
    data = write_bytes(tmp_path / "a.jsonl", GOOD)
    path = tmp_path / "none.json" if name is None else write_bytes(tmp_path / name, content)
    with pytest.raises(InputError, match=expected):
        count_dataset([data], path)


def test_unknown_field_lists_the_fields(tmp_path: Path, tokenizer_file: Path) -> None:
    path = write_bytes(tmp_path / "a.jsonl", GOOD)
    with pytest.raises(InputError, match="--field body is not there; it has text"):
        count_dataset([path], tokenizer_file, CountRequest(field="body"))


def make_corpus(folder: Path, seed: int, files: int, records: int) -> list[Path]:
    """Write files whose records differ in length by orders of magnitude and in tokens per byte between files."""
    generator = np.random.default_rng(seed)
    words = [["the ", "fox "], ["训练", "显存"], ["zq", "0x"]]
    paths = []
    for index in range(files):
        lengths = np.ceil(generator.lognormal(2.5, 1.0, records)).astype(int)
        choices = generator.integers(0, 3, records)
        lines = [
            {"text": "".join(generator.choice(words[kind], length))}
            for kind, length in zip(choices, lengths, strict=True)
        ]
        paths.append(write_lines(folder / f"part-{index}.jsonl", lines))
    return paths


def test_sampling_interval_covers_the_truth_at_its_rate(tmp_path: Path, tokenizer_file: Path) -> None:
    paths = make_corpus(tmp_path, seed=1, files=3, records=900)
    exact = count_dataset(paths, tokenizer_file)
    assert exact.is_exact
    size_bytes = sum(path.stat().st_size for path in paths)
    runs = 120
    samples = [
        count_dataset(paths, tokenizer_file, CountRequest(sample_bytes=size_bytes / 12, seed=seed))
        for seed in range(runs)
    ]
    assert not any(sample.is_exact for sample in samples)
    assert all(sample.records == exact.records for sample in samples)
    covered = sum(sample.low_tokens <= exact.tokens <= sample.high_tokens for sample in samples)
    # 90 % of 120 with three binomial standard deviations either way
    deviation = 3 * math.sqrt(runs * 0.9 * 0.1)
    assert abs(covered - 0.9 * runs) <= deviation
    mean = np.mean([sample.tokens for sample in samples])
    spread = np.std([sample.tokens for sample in samples]) / math.sqrt(runs)
    assert abs(mean - exact.tokens) < 4 * spread
    # the longest record is found by its size, sampled or not
    assert all(sample.longest.tokens >= 0.8 * exact.longest.tokens for sample in samples)
    shares = [sample.packing.padding_fraction for sample in samples]
    assert np.mean(shares) == pytest.approx(exact.packing.padding_fraction, rel=0.05)


def test_same_seed_same_sample(tmp_path: Path, tokenizer_file: Path) -> None:
    paths = make_corpus(tmp_path, seed=2, files=2, records=300)

    def sample(seed: int) -> DatasetStats:
        return count_dataset(paths, tokenizer_file, CountRequest(sample_bytes=5000, seed=seed))

    assert sample(1) == sample(1)
    assert sample(1).tokens != sample(2).tokens
    assert count_dataset(paths, tokenizer_file, CountRequest(sample_bytes=5000, exact=True)).is_exact


def test_many_small_files_are_pooled(tmp_path: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the sample depends on the files' names: as given here they are the same wherever the test runs
    monkeypatch.chdir(tmp_path)
    paths = [path.relative_to(tmp_path) for path in make_corpus(tmp_path, seed=3, files=40, records=12)]
    exact = count_dataset(paths, tokenizer_file)
    size_bytes = sum(path.stat().st_size for path in paths)
    sample = count_dataset(paths, tokenizer_file, CountRequest(sample_bytes=size_bytes / 4))
    assert 0 < sample.sampled_records < exact.records
    assert sample.low_tokens < exact.tokens < sample.high_tokens
    # a quarter of the records: the half interval of 90 % is about a tenth
    assert sample.high_tokens - sample.low_tokens < 0.25 * exact.tokens


def test_progress_reaches_the_end(tmp_path: Path, tokenizer_file: Path) -> None:
    paths = make_corpus(tmp_path, seed=4, files=2, records=10)
    seen: list[tuple[int, int]] = []
    count_dataset(paths, tokenizer_file, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == sum(path.stat().st_size for path in paths)


def test_packing_at_a_length_and_batch(tmp_path: Path, tokenizer: Tokenizer, tokenizer_file: Path) -> None:
    texts = ["the fox " * 10] * 6 + ["dog"] * 6
    stats = count_dataset(
        [write_lines(tmp_path / "a.jsonl", [{"text": text} for text in texts])],
        tokenizer_file,
        CountRequest(seq_len=16, global_batch_seqs=4, micro_batch=2),
    )
    long, short = encode(tokenizer, texts[0]), encode(tokenizer, "dog")
    assert long > 16 > short
    packing = stats.packing
    assert packing.truncated_records_fraction == 0.5
    assert packing.truncated_tokens_fraction == pytest.approx(1 - (16 + short) / (long + short))
    assert packing.joined_sequences == math.ceil((6 * (long + short) + 12) / 16)
    assert packing.unpacked_steps == 3
    # pairs drawn at random: both short in a quarter of them
    longest = 16 * 0.75 + short * 0.25
    assert packing.padding_fraction == pytest.approx(1 - (16 + short) / 2 / longest)
