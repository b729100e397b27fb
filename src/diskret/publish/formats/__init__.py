"""Writers: data files and workbooks, public ones from `Published` alone."""
