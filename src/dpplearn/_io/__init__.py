"""Files: atomic writing, JSON and JSON Lines with errors that name the place, bytes to text, work folders."""
