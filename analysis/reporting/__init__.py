"""The HTML report: figures, page template, and the function that writes the one file."""
