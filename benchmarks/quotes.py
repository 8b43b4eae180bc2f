"""How long a quote file of 50,000 rows takes to read, and how much memory: ``python benchmarks/quotes.py [--rows N]``.

Rows are generated as sellers write them: 400 sellers, seven cards with units of their own, prices that differ in nearly
every row, four wordings each of links, tax and remark. Read as CSV, and as a workbook of the same rows; each in a
process of its own, for its peak memory. Beside the seconds stands what a million additions take in the same process,
because these seconds are those of this machine.
"""

from __future__ import annotations

import argparse
import csv
import random
import subprocess
import sys
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from measure import peak_rss_bytes
from run import say_machine, say_verdict

ROWS = 50_000
MOST_S = 10.0
MOST_RSS_BYTES = 300e6
HEADER = ("供应商", "型号", "配置", "数量", "报价", "单位", "起租期", "网络", "税", "备注")
CARDS = (
    ("H800 80G SXM5", "8卡整机", 60_000.0, 90_000.0, "元/台/月"),
    ("A800-80G NVLink", "8卡", 5.5, 7.5, "元/卡/时"),
    ("H20 96G", "8卡整机", 50.0, 60.0, "万元/年"),
    ("RTX4090 24G", "单卡", 1.2, 2.2, "元/卡/时"),
    ("A100 80G SXM", "8卡整机", 1_300.0, 1_700.0, "元/台/天"),
    ("H100 SXM", "8卡整机", 6.5, 8.5, "万元/台/月"),
    ("昇腾910B", "8卡", 3.5, 4.5, "万元/台/月"),
)
ROUND_FROM = 500.0
"""Prices from here on are written in whole yuan."""


def make_rows(rows: int) -> list[list[str]]:
    """Make the rows of a quote, the same for the same number."""
    chance = random.Random(rows)  # noqa: S311  # a benchmark's data
    made = [["报价单", *[""] * (len(HEADER) - 1)], list(HEADER)]
    for _ in range(rows):
        card, node, low, high, unit = chance.choice(CARDS)
        price = chance.uniform(low, high)
        made.append(
            [
                f"卖家{chance.randrange(400)}",
                *(card, node, chance.choice(("", "16台", "5台", "64张"))),
                *(f"{price:,.0f}" if price > ROUND_FROM else f"{price:.2f}", unit),
                chance.choice(("1个月", "3个月", "12个月", "无")),
                chance.choice(("8×400G IB", "RoCE 4×200G", "无IB", "")),
                chance.choice(("含税", "不含税(6%)", "不含税", "")),
                chance.choice(("", "押一付三", "含机柜电费", "关机不计费")),
            ]
        )
    return made


def write_files(folder: Path, rows: int) -> list[Path]:
    """Write the rows as CSV and as a workbook."""
    import openpyxl

    made = make_rows(rows)
    table, book = folder / "quotes.csv", folder / "quotes.xlsx"
    with table.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(made)
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("报价")
    for row in made:
        sheet.append(row)
    workbook.save(book)
    return [table, book]


def read(path: Path) -> None:
    """Read one file and print its figures, for the parent process."""
    from suanpei.verbs.quotes import QuotesRequest, read_quote_files

    started_s = process_time()
    total = 0
    for number in range(1_000_000):
        total += number
    additions_s = process_time() - started_s
    started_s = process_time()
    result = read_quote_files(QuotesRequest(files=(path,), as_of=date(2026, 11, 30), currency="CNY"))
    taken_s = process_time() - started_s
    sys.stdout.write(f"{taken_s} {additions_s} {peak_rss_bytes()} {len(result.offers)} {len(result.questions)}\n")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read is not None:
        read(given.read)
        return
    lines = [
        f"# A quote file of {given.rows:,} rows",
        "",
        f"Made by `benchmarks/quotes.py` on {say_machine()}; CPU seconds.",
        "",
        "| file | reading | in millions of additions | aim | | peak memory | aim | | offers | questions |",
        "|---|---:|---:|---:|---|---:|---:|---|---:|---:|",
    ]
    with TemporaryDirectory() as folder:
        for path in write_files(Path(folder), given.rows):
            command = [sys.executable, __file__, "--read", str(path)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            taken_s, additions_s, rss = (float(value) for value in printed[:3])
            lines.append(
                f"| {path.suffix} | {taken_s:.1f} s | {taken_s / additions_s:,.0f} | {MOST_S:.0f} s"
                f" | {say_verdict(taken_s, MOST_S)} | {rss / 1e6:.0f} MB | {MOST_RSS_BYTES / 1e6:.0f} MB"
                f" | {say_verdict(rss, MOST_RSS_BYTES)} | {int(printed[3]):,} | {int(printed[4]):,} |"
            )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
