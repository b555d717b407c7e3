"""Files: written whole or not at all, JSON and JSON Lines with errors that name the place, bytes to text, folders."""
