"""The data path and the placement of the first plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.data_path import to_gb_text
from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import say_duration
from suanpei.report.text.layout import Paragraph, heading
from suanpei.units import GIGA, MEGA, format_gbit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.market.data_path import DataPath
    from suanpei.report.locale import Language
    from suanpei.verbs.plan_rows import PlanRow

SHORTEST_SAID_S = 60.0
"""Stalls and waits below this are not worth a sentence of their own. [s]"""


def render_site(row: PlanRow, lang: Language) -> list[RenderableType]:
    """Render how data reach the cards, and where the cards stand."""
    marks = {True: "  √ ", False: "  × ", None: "  ? "}
    return [
        heading(translate("Data and site", lang)),
        *(Paragraph(translate(said, lang)) for said in _say_data(row.data_path, lang)),
        *(Paragraph(translate(finding.said, lang), bullet=marks[finding.holds]) for finding in row.placement),
    ]


def _say_data(path: DataPath, lang: Language) -> list[Message]:
    return [
        _say_pull(path, lang),
        Message(
            "Storage: training reads {read} MB/s of the {rate} GB/s counted on; a checkpoint of {checkpoint} GB takes"
            " {write}; {stored} GB are stored, {capacity} GB of a shared file system keep it from slowing.",
            read=f"{path.read_bytes_per_s / MEGA:,.3g}",
            rate=f"{path.storage_bytes_per_s / GIGA:g}",
            checkpoint=to_gb_text(path.checkpoint_bytes),
            write=say_duration(path.checkpoint_write_s, lang),
            stored=to_gb_text(path.stored_bytes),
            capacity=to_gb_text(path.capacity_bytes),
        ),
        *_say_stall(path, lang),
    ]


def _say_pull(path: DataPath, lang: Language) -> Message:
    values = {
        "moved": to_gb_text(path.moved_in_bytes),
        "data": to_gb_text(path.data_bytes),
        "pull": say_duration(path.pull_s, lang),
        "uplink": format_gbit(path.uplink_bytes_per_s),
    }
    if path.wait_s < SHORTEST_SAID_S:
        return Message(
            "Data: {moved} GB in, {data} GB of it the data set: {pull} over {uplink} Gb/s, within set-up.", **values
        )
    values["wait"] = say_duration(path.wait_s, lang)
    if path.wait_rent is None:
        return Message(
            "Data: {moved} GB in, {data} GB of it the data set: {pull} over {uplink} Gb/s, {wait} longer than set-up:"
            " bring it in before delivery.",
            **values,
        )
    return Message(
        "Data: {moved} GB in, {data} GB of it the data set: {pull} over {uplink} Gb/s, {wait} longer than set-up: bring"
        " it in before delivery, or {rent} of rent waits for it.",
        rent=path.wait_rent,
        **values,
    )


def _say_stall(path: DataPath, lang: Language) -> list[Message]:
    if path.stall_s < SHORTEST_SAID_S:
        return []
    stall, tenants = say_duration(path.stall_s, lang), path.sharing_tenants
    if path.cache_worth is None:
        return [
            Message("Shared by {tenants} tenants, storage holds up training for {stall}.", tenants=tenants, stall=stall)
        ]
    return [
        Message(
            "Shared by {tenants} tenants, storage holds up training for {stall}: a cache node or local NVMe pays up to"
            " {worth} for the run.",
            tenants=tenants,
            stall=stall,
            worth=path.cache_worth,
        )
    ]
