"""Pages in HTML: the public one for readers, and the office's own."""
