"""Measured runs against predictions, and the fit of the calibration."""
