"""The workbench: a page on loopback that writes job files and shows what they do."""
