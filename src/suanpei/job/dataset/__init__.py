"""A user's own data, in tokens: `count_dataset` reads files, `DatasetStats` says what they hold."""

from __future__ import annotations

from suanpei.job.dataset.counting import SAMPLE_BYTES, CountRequest, count_dataset
from suanpei.job.dataset.stats import DatasetStats, FileCount, HistogramBin, LongestSample, Packing

__all__ = [
    "SAMPLE_BYTES",
    "CountRequest",
    "DatasetStats",
    "FileCount",
    "HistogramBin",
    "LongestSample",
    "Packing",
    "count_dataset",
]
