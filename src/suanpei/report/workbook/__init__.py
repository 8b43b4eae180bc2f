"""Workbooks for spreadsheets; openpyxl is imported where one is written."""
