"""Results can be pickled, copied and taken apart; the office's key is in none of it."""

import copy
import dataclasses
import pickle

import pytest
from every_family import RULE, counts
from released_microdata import protected
from safe_files import replaced

import diskret as dk
from diskret.attack.microdata.claims import KAnonymity, Safe
from diskret.errors import KeyFileError
from diskret.publish.verify.folder import verify

MASTER = bytes(range(100, 132))
KEYS = dk.SecretKeys(MASTER)
SPELT = (MASTER, MASTER.hex().encode(), repr(MASTER)[2:-1].encode())
RESULTS = {
    "suppressed": lambda: dk.suppress(counts(), RULE, keys=KEYS, name="firms"),
    "rounded": lambda: dk.round_table(counts(), base=5, keys=KEYS, name="firms"),
    "microdata": lambda: protected().release([KAnonymity(3)], keys=KEYS),
    "safe": lambda: replaced().release(Safe(), keys=KEYS),
}


@pytest.mark.parametrize("name", RESULTS)
def test_no_key_in_what_a_result_can_be_turned_into(name, tmp_path):
    result = RESULTS[name]()
    made = {
        "pickle": pickle.dumps(result),
        "vars": repr(vars(result)).encode(),
        "fields": repr([getattr(result, f.name) for f in dataclasses.fields(result)]).encode(),
        "repr": repr(result).encode(),
        "copy": pickle.dumps(copy.copy(result)),
    }
    try:
        made["dictionary"] = repr(dataclasses.asdict(result)).encode()
    except (TypeError, KeyFileError):  # some parts cannot be copied
        pass
    assert not [how for how, text in made.items() if any(part in text for part in SPELT)]
    again = pickle.loads(made["pickle"])
    folder = again.write(tmp_path / "out", ["csv"], keys=KEYS)
    assert verify(folder, keys=KEYS).sealed


def test_a_ledger_is_not_pickled_with_its_key(tmp_path):
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    with pytest.raises(Exception, match="pickle"):
        pickle.dumps(ledger)
    assert not any(part in repr(vars(ledger)).encode() for part in SPELT)
