"""Random statistics, released with diskret and attacked from their records.

`cases` draws records and says which tables are made of them, `releases` has diskret protect and
publish these, `oracle` attacks what was published, `run` repeats this as often as asked and keeps
the score. Only `releases` imports diskret: what a cell holds, what a rule finds unsafe and what the
equations give away is worked out here anew, from the records.
"""
