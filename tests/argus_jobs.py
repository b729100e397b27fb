"""Small jobs of τ-ARGUS in a folder of their own."""

RECORDS = """\
N 1 S   100
N 1 S    90
N 1 L    80
N 2 S   500
N 2 L    30
S 3 S   200
S 3 S   210
S 3 L   190
S 4 S    60
S 4 L    70
S 4 L    75
S 4 L    10
"""
METADATA = """\
Part 1 1
  <RECODEABLE>
Region 3 1 9
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "@"
Size 5 1
  <RECODEABLE>
Turnover 6 6
  <NUMERIC>
"""
TREE = "North\n@1\n@2\nSouth\n@3\n@4\n"
BATCH = """\
<OPENMICRODATA> "firms.asc"
<OPENMETADATA> "firms.rda"
<SPECIFYTABLE> "Region""Size"|"Turnover"||
<SAFETYRULE> P(10,1)|FREQ(2,30)|
<READMICRODATA>
<SUPPRESS> MOD(1,5)
<WRITETABLE> (1,3,AS+FL+,"status.txt")
<WRITETABLE> (1,3,,"public.txt")
"""


def written(folder, **files):
    """Write a job and its files, as text or bytes; where the job is."""
    standard = {"firms.asc": RECORDS, "firms.rda": METADATA, "region.hrc": TREE, "job.arb": BATCH}
    for name, content in (standard | files).items():
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(raw)
    return folder / "job.arb"


def files_of(folder):
    """Names of all files of a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())
