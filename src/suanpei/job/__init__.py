"""What is trained, on how much data."""
