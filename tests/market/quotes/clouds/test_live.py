from __future__ import annotations

import logging
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from suanpei.errors import InputError, MissingExtraError
from suanpei.market.quotes.clouds.live import FOLDER_VARIABLE, load_gpuhunt, read_live
from tests.market.quotes.quoted_samples import context

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Item:
    """An item with the fields that gpuhunt's own have."""

    provider: str = "aws"
    instance_name: str = "p4d.24xlarge"
    location: str = "us-east-1"
    price: float = 32.7726
    gpu_count: int = 8
    gpu_name: str | None = "A100"
    gpu_memory: float | None = 40.0
    spot: bool = False


class CatalogueError(Exception):
    pass


@dataclass
class Package:
    """Stands in for gpuhunt: the part of its interface that is used."""

    items: list[Item]
    fails: Exception | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    GPUHuntError = CatalogueError

    def default_catalog(self) -> Any:
        return SimpleNamespace(query=self._query)

    def Catalog(self, *, balance_resources: bool, auto_reload: bool) -> Any:  # noqa: N802  # gpuhunt's own name
        self.asked.append({"balance_resources": balance_resources, "auto_reload": auto_reload})
        return SimpleNamespace(query=self._query)

    def _query(self, **filters: Any) -> list[Item]:
        logging.getLogger("gpuhunt._internal.default").warning("Skipping provider %s: no key", "CrusoeProvider")
        self.asked.append(filters)
        if self.fails is not None:
            raise self.fails
        return self.items


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)


def test_an_instance_is_an_offer_per_card() -> None:
    package = Package([Item(), Item(price=10.0, spot=True)])
    read = read_live(package, (), context("USD"))
    on_demand, spot = read.offers
    assert on_demand.price_per_accelerator_hour.amount == Fraction("32.7726") / 8
    assert (on_demand.accelerator, on_demand.seller, on_demand.region) == ("A100-SXM4-40GB", "aws", "us-east-1")
    assert (on_demand.source.file, on_demand.source.cell) == ("gpuhunt:aws", "p4d.24xlarge")
    assert (on_demand.pricing, spot.pricing, spot.flags) == ("on_demand", "spot", ("spot",))
    assert package.asked == [{"provider": None, "min_gpu_count": 1}]


def test_what_is_no_offer_or_was_only_logged_is_listed(caplog: pytest.LogCaptureFixture) -> None:
    package = Package([Item(gpu_count=0, gpu_name=None), Item(gpu_count=256), Item(price=0.0)])
    read = read_live(package, (), context("USD"))
    assert read.offers == ()
    assert [str(item.reason) for item in read.unread] == [
        "gpuhunt reports: Skipping provider CrusoeProvider: no key",
        "3 instances without a card or a price, or with more than 64 cards",
    ]
    assert caplog.records == []  # collected, not written among the answers
    assert logging.getLogger("gpuhunt").handlers == []


def test_a_folder_of_catalogues_is_read_instead_of_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aws", "gcp"):
        (tmp_path / f"{name}.csv").write_text("instance_name\n", encoding="utf-8")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    package = Package([Item()])
    read_live(package, (), context("USD"))
    read_live(package, ("GCP",), context("USD"))
    opened = {"balance_resources": False, "auto_reload": False}
    assert package.asked == [
        opened,
        {"provider": ["aws", "gcp"], "min_gpu_count": 1},
        opened,
        {"provider": ["gcp"], "min_gpu_count": 1},
    ]
    with pytest.raises(InputError, match=r"has no oci\.csv; there are: aws, gcp"):
        read_live(package, ("oci",), context("USD"))


@pytest.mark.parametrize(
    ("error", "complaint"),
    [
        (ValueError("Unknown provider: nope"), "provider: Unknown provider: nope"),
        (OSError("Name or service not known"), r"cannot be fetched \(Name or service not known\); check the network"),
        (CatalogueError("Failed to load"), r"cannot be fetched \(Failed to load\)"),
    ],
)
def test_a_failure_is_one_line(error: Exception, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as raised:
        read_live(Package([], fails=error), (), context())
    assert "\n" not in str(raised.value)


def test_a_chain_of_failures_is_told_by_its_root() -> None:
    error = CatalogueError("Failed to load catalogs of all providers")
    error.__cause__ = OSError("<urlopen error timed out>")
    with pytest.raises(InputError, match=r"cannot be fetched \(urlopen error timed out\)"):
        read_live(Package([], fails=error), (), context())


def test_a_missing_extra_prints_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpuhunt", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'suanpei\[live\]'"):
        load_gpuhunt()
