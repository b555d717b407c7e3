"""What was chosen, why, and what was left out; as a record, as text and as a page."""
