"""Job files: read, checked line by line, and carried out."""
