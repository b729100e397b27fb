"""A job file for SAFE to start from."""

_TEMPLATE = """\
# A job for "diskret safe"; confidential. Paths are seen from the folder of this file.
# Lines that begin with "#" and a key are options with their defaults or examples.

[records]                     # of everybody: a file with sampling weights is refused
path = "persons.parquet"      # .parquet (counted where it is) or .csv

#[roles]                      # what must not get into the safe file
#id = "number"
#household = "hid"
#identifiers = ["name"]

#[[steps]]                    # what is done before: coarser categories, say
#do = "recode"
#variable = "age"
#width = 5

[safe]
# The controlled tables: lists of variables, or formulas: all tables of up to so many of these
# variables, each of them by the variables in "always", too.
tables = [
    ["municipality", "age"],
    { up_to = 2, of = ["age", "sex", "occupation"], always = ["district"] },
]
#tables = { "" = [["rooms", "heating"]], building = [["year"]] }  # column that is counted
#minimum = 3                  # every combination occurs not at all or at least so often
#margins = true               # false: only the tables that are named, and the total
#levels = { age = "age.hrc", municipality = ["district", "state"] }  # controlled at each level
#columns = ["religion"]       # further columns of the safe file
#public = ["area_type"]       # follows from the others, and is carried along
#strata = ["state"]           # joint counts stay exact
#exact = [["sex"], { municipality = "01001", sex = "f" }]  # tables and cells that stay exact
#weights = [[["age", "sex"], 0], [["municipality", "age"], 2]]  # deviation that is free
#new_combinations = false     # whether combinations may come up that the file does not have
#method = "search"            # search | hoehne (for comparison) | exact (very small files)
#sweeps = 300                 # work of the search
#time_limit = 600             # seconds; or --time-limit
#checkpoint = "safe.state"    # goes on from there when started again; or --checkpoint
#seed = 1

# What must hold before anything is written; without it what SAFE promises.
[release]
folder = "out"
#name = "persons"             # beginning of the file names
#formats = ["csv", "html"]    # csv, parquet; html: reports
#language = "en"              # en | de: of the reports
#title = "Census 2026, safe file of persons"

#[release.claims]
#safe = { minimum = 3, largest = 9 }
"""


def safe_template() -> str:
    """A commented job file for ``diskret safe``."""
    return _TEMPLATE
