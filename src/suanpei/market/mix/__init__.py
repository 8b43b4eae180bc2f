"""The cheapest mix of reserved and elastic capacity for a demand over time, and what it is measured against."""
