"""What a run costs on given terms, in Decimal, with its parts, its band and what is not in it.

Each part is a quantity times a unit times a price: the rent with its split (`rent`), what a seller bills beside it
(`charges`), tax (`tax`), what is paid when (`cash_flow`). What nothing states is listed as missing with its worst
reading (`missing`), never as zero. Formulas and sources: docs/cost.md.
"""

from suanpei.market.cost.facts import NO_FACTS, CostFacts, ListPrice, load_cost_facts
from suanpei.market.cost.missing import list_missing
from suanpei.market.cost.needs import DataSizes, RunHours, RunNeeds
from suanpei.market.cost.price import Conditions, find_tie_price, make_bills, price_package, price_run
from suanpei.market.cost.rent import Rental
from suanpei.market.cost.result import Bill, CashItem, Cost, CostPart, CostUnit, EarlyExit, MissingPart

__all__ = [
    "NO_FACTS",
    "Bill",
    "CashItem",
    "Conditions",
    "Cost",
    "CostFacts",
    "CostPart",
    "CostUnit",
    "DataSizes",
    "EarlyExit",
    "ListPrice",
    "MissingPart",
    "Rental",
    "RunHours",
    "RunNeeds",
    "find_tie_price",
    "list_missing",
    "load_cost_facts",
    "make_bills",
    "price_package",
    "price_run",
]
