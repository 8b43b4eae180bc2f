"""Right values: what Excel and LibreOffice show for the same number under the same format."""

from __future__ import annotations

from decimal import Decimal

import pytest

from suanpei.market.quotes.files.shown_numbers import NumberFormat, read_number, write_date, write_plain


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0", "78000", "78000"),
        ("0.00", "6.8", "6.80"),
        ("0.00", "6.849", "6.85"),
        ("0.00", "2.005", "2.01"),
        ("#,##0", "78000", "78,000"),
        ("#,##0", "0", "0"),
        ("#,##0.00", "1234567.5", "1,234,567.50"),
        ("0.##", "6.50", "6.5"),
        ("0.##", "6", "6"),
        ("0%", "0.06", "6%"),
        ("0.0%", "0.065", "6.5%"),
        ("000", "7", "007"),
        ('"¥"#,##0', "78000", "¥78,000"),
        ("¥#,##0;¥-#,##0", "-500", "¥-500"),
        ("[$¥-804]#,##0.00", "6.8", "¥6.80"),
        ("[$￥-804]#,##0", "78000", "￥78,000"),
        ('"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "2.35", "$2.35"),
        ('"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "-2.35", "($2.35)"),
        ("$#,##0.00", "2.35", "$2.35"),
        ("[$USD] #,##0.00", "2.35", "USD 2.35"),
        ("#,##0.00 [$€-407]", "1450", "1,450.00 €"),
        ('_ "¥"* #,##0.00_ ;_ "¥"* -#,##0.00_ ;_ "¥"* "-"??_ ;_ @_ ', "6.8", "¥6.80"),
        ('_ "¥"* #,##0.00_ ;_ "¥"* -#,##0.00_ ;_ "¥"* "-"??_ ;_ @_ ', "0", "¥-"),
        ('0.00"元/卡/时"', "6.8", "6.80元/卡/时"),
        ('General"元/台/月"', "78000", "78000元/台/月"),
        ('G/通用格式"元"', "6.85", "6.85元"),
        ('0!.0,"万"', "58000", "5.8万"),
        ('0"."0,"万"', "58400", "5.8万"),
        ("0.0,", "58000", "58.0"),
        ("0,,", "5000000", "5"),
        ('[>=10000]0!.0,"万";0', "78000", "7.8万"),
        ('[>=10000]0!.0,"万";0', "6800", "6800"),
        ("[<1]0.00;[>=1]0.0", "2.5", "2.5"),
        ("[<1]0.00;[>9]0.0", "5", "5.0"),
        ("0.00E+00", "78000", "78000"),
        ("# ?/?", "0.5", "0.5"),
        ("0.00;;", "-1", ""),
        ("-0.0", "5", "-5.0"),
        ("0", "-5", "-5"),
        ("0.0000000000000", "1.5", "1.5000000000"),
        (";;;", "5", ""),
    ],
)
def test_a_number_is_written_as_its_reader_sees_it(code: str, value: str, shown: str) -> None:
    assert NumberFormat(code).show(Decimal(value)).strip() == shown


@pytest.mark.parametrize(
    ("code", "value", "shown"), [("0", "2.35", "2.35"), ("0.0", "0.04", "0.04"), ("0%", "0.065", "6.5%")]
)
def test_a_display_that_hides_more_than_half_a_percent_is_not_followed(code: str, value: str, shown: str) -> None:
    assert NumberFormat(code).show(Decimal(value)) == shown


@pytest.mark.parametrize(
    "code", ["yyyy-mm-dd", 'yyyy"年"m"月"d"日"', "m/d/yy", "[h]:mm", "h:mm AM/PM", "[$-804]aaaa d"]
)
def test_formats_of_dates_are_known(code: str) -> None:
    assert NumberFormat(code).is_date


@pytest.mark.parametrize("code", ["0.00", '"day"0', "[Red]0", "[$USD-409]0", "0\\d", "General", "[>=10]0"])
def test_formats_of_numbers_are_no_dates(code: str) -> None:
    assert not NumberFormat(code).is_date


@pytest.mark.parametrize(
    ("serial", "shown"),
    [
        ("1", "1900-01-01"),
        ("59", "1900-02-28"),
        ("61", "1900-03-01"),
        ("45717", "2025-03-01"),
        ("45717.75", "2025-03-01 18:00"),
        ("0.4375", "10:30"),
        ("0.5000116", "12:00:01"),
        ("45716.9999999", "2025-03-01"),
        ("2958465", "9999-12-31"),
        ("2958466", "2958466"),
        ("2958465.9999999", "2958465.9999999"),
        ("-1", "-1"),
    ],
)
def test_dates_are_written_in_iso_form(serial: str, shown: str) -> None:
    assert write_date(Decimal(serial), is_1904=False) == shown


def test_dates_of_old_macintosh_workbooks_begin_in_1904() -> None:
    assert write_date(Decimal(0) + 1, is_1904=True) == "1904-01-02"
    assert (
        write_date(Decimal(45717 - 1462), is_1904=True) == "2025-03-01"
    )  # 1,462 days from 1900-01-01's count to 1904's


@pytest.mark.parametrize(
    ("stored", "value"),
    [("2.3500000000000001", "2.35"), ("78000", "78000"), ("7.8E4", "78000"), ("0.1", "0.1"), ("1E-3", "0.001")],
)
def test_noise_of_binary_fractions_is_dropped(stored: str, value: str) -> None:
    number = read_number(stored)
    assert number is not None
    assert write_plain(number) == value


@pytest.mark.parametrize("stored", ["", "x", "NaN", "Infinity", "1e99", "1e-99", "-1e400000"])
def test_what_is_no_usual_number_stays_as_stored(stored: str) -> None:
    assert read_number(stored) is None


@pytest.mark.parametrize(
    ("code", "shown"),
    [("@", "H800"), ('@"元"', "H800元"), ('0;0;0;@" 台"', "H800 台"), ("0.00", "H800"), ("0;-0", "H800")],
)
def test_words_that_a_format_adds_to_a_text(code: str, shown: str) -> None:
    assert NumberFormat(code).show_text("H800") == shown


@pytest.mark.parametrize(("code", "shown"), [("@", "0.06"), ('"单价"@', "单价0.06"), ('@" 元"', "0.06 元")])
def test_a_number_in_a_cell_of_text_is_not_lost(code: str, shown: str) -> None:
    assert NumberFormat(code).show(Decimal("0.06")) == shown
