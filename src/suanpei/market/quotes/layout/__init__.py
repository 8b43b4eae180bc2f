"""What the lines of a sheet are: headings, entries, remarks, lines that are no offers."""
