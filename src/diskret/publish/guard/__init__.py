"""The last guard before files leave: read back, and compared with what was proven."""
