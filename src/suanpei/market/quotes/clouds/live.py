"""Prices of today from gpuhunt's catalogue of clouds, an optional dependency (``[live]``).

The catalogue is downloaded when it is asked for, unless ``GPUHUNT_CATALOG_DIR`` names a folder with one CSV file per
provider. What gpuhunt only writes to its log (a provider that failed or wants credentials) is listed as unread.
"""

from __future__ import annotations

import importlib
import logging
import os
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError, MissingExtraError
from suanpei.market.quotes.clouds.instances import MOST_INSTANCE_GPUS, Instance, InstanceReader
from suanpei.market.quotes.document import Unread
from suanpei.market.quotes.quoted import Place, Quotes
from suanpei.messages import Message
from suanpei.units import GIB_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suanpei.market.quotes.context import QuoteContext

PACKAGE = "gpuhunt"
EXTRA = "live"
FOLDER_VARIABLE = "GPUHUNT_CATALOG_DIR"
"""Names the folder of a catalogue on disk; gpuhunt reads the same variable."""


def load_gpuhunt() -> Any:
    """Import gpuhunt.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return importlib.import_module(PACKAGE)
    except ImportError as error:
        raise MissingExtraError(PACKAGE, EXTRA) from error


def read_live(gpuhunt: Any, providers: Sequence[str], context: QuoteContext) -> Quotes:
    """Read the instances of clouds as gpuhunt lists them.

    Args:
        gpuhunt: The package, as `load_gpuhunt` gives it. [-]
        providers: Only these; none takes all that there are. [-]
        context: Catalogue, exchange rates and currency of the result. [-]

    Returns:
        An offer per instance, region and way of paying.

    Raises:
        InputError: A provider is unknown, the folder of the catalogue lacks one, or the catalogue cannot be fetched.
    """
    with _collected_log() as log:
        items = _query(gpuhunt, providers)
    reader = InstanceReader(context)
    offers = []
    for row, item in enumerate(items, start=1):
        if item.gpu_name and 1 <= item.gpu_count <= MOST_INSTANCE_GPUS and item.price > 0:
            offers.append(reader.read(_instance(item, row)))
    said = Message(
        "prices are the list prices of whole instances in dollars that gpuhunt {version} collected", version=_version()
    )
    unread = [
        Unread(file=PACKAGE, cell="", reason=Message("gpuhunt reports: {report}", report=report)) for report in log
    ]
    if left := len(items) - len(offers):
        reason = Message(
            "{count} instances without a card or a price, or with more than {most} cards",
            count=left,
            most=MOST_INSTANCE_GPUS,
        )
        unread.append(Unread(file=PACKAGE, cell="", reason=reason))
    return Quotes(offers=tuple(offers), questions=(), unread=tuple(unread), assumptions=(said, *reader.assumptions))


def _query(gpuhunt: Any, providers: Sequence[str]) -> list[Any]:
    """Ask gpuhunt, of a folder where one is named, else of what it downloads."""
    wanted: list[str] | None = [name.strip().lower() for name in providers] or None
    folder = os.environ.get(FOLDER_VARIABLE)
    try:
        if folder:
            wanted = _providers_on_disk(Path(folder), wanted)
            catalog = gpuhunt.Catalog(balance_resources=False, auto_reload=False)
        else:
            catalog = gpuhunt.default_catalog()
        return list(catalog.query(provider=wanted, min_gpu_count=1))
    except ValueError as error:  # a provider that gpuhunt does not know or has no credentials for
        raise InputError(Message("provider: {why}", why=" ".join(str(error).split()))) from error
    except (OSError, gpuhunt.GPUHuntError) as error:
        raise InputError(
            Message(
                "the live catalogue cannot be fetched ({why}); check the network, or name a folder of it in {variable}",
                why=_root_cause(error),
                variable=FOLDER_VARIABLE,
            )
        ) from error


def _root_cause(error: BaseException) -> str:
    """Say in one line what an error began with."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()).strip("<>") or type(error).__name__


def _providers_on_disk(folder: Path, wanted: list[str] | None) -> list[str]:
    """Give the providers to read of a folder.

    Raises:
        InputError: The folder has no file of one that is wanted, or none at all.
    """
    there = sorted(path.stem for path in folder.glob("*.csv"))
    missing = [name for name in wanted or () if name not in there]
    if missing or not there:
        raise InputError(
            Message(
                "{variable}: the folder {folder} has no {missing}; there are: {there}",
                variable=FOLDER_VARIABLE,
                folder=str(folder),
                missing=", ".join(f"{name}.csv" for name in missing) or "*.csv",
                there=", ".join(there) or "-",
            )
        )
    return wanted or there


def _instance(item: Any, row: int) -> Instance:
    return Instance(
        source=Place(file=f"{PACKAGE}:{item.provider}", sheet=None, row=row, cell=item.instance_name),
        seller=item.provider,
        name=item.instance_name,
        zones=(),
        card=item.gpu_name,
        hints=item.instance_name.replace("_", " "),
        memory_bytes=(item.gpu_memory * GIB_BYTES,) if item.gpu_memory else (),
        gpus=item.gpu_count,
        price=Fraction(str(item.price)),
        price_as_written=str(item.price),
        is_spot=item.spot,
        region=item.location,
    )


class _Collector(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, reports: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.reports = reports

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        cause = record.exc_info[1] if record.exc_info else None
        text = record.getMessage() if cause is None else f"{record.getMessage()} {cause}"
        self.reports.append(" ".join(text.split()))


@contextmanager
def _collected_log() -> Iterator[list[str]]:
    """Collect gpuhunt's log instead of having it written among the answers."""
    reports: list[str] = []
    logger, handler = logging.getLogger(PACKAGE), _Collector(reports)
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield reports
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "?"
