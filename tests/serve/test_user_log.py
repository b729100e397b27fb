"""Users in the database of a ledger: shared by processes, and changed by nobody without keys."""

from datetime import date, timedelta

import pytest
from serving import KEYS
from test_journal import changed, file, place
from test_users import TODAY

import diskret as dk
import diskret.serve.user_log as user_log
from diskret.errors import InputError, VerificationError
from diskret.keys import SecretKeys
from diskret.serve.user_log import UserLog
from diskret.serve.users import User, Users

__all__ = ["file", "place"]
LATER = TODAY + timedelta(30)


def users(place):
    return Users(UserLog(place, KEYS), KEYS)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(user_log, "_PAUSE", 0.0)


def test_users_and_tokens_are_kept_and_shared(place):
    one, two = users(place), users(place)
    assert one.names == two.names == []
    one.add(User("anne", "reader", ("census",)))
    token = one.new_token("anne", LATER)
    for other in (one, two, users(place)):
        assert other.of(token, TODAY) == User("anne", "reader", ("census",))
        assert other.of(token, LATER + timedelta(1)) is None
    two.add(User("anne", "owner"))
    second = two.new_token("anne", LATER, others_until=TODAY)
    assert one.of(token, TODAY).role == "owner" and one.of(token, TODAY + timedelta(1)) is None
    assert one.revoke("anne", TODAY) == 2
    for other in (one, two, users(place)):
        assert other.of(token, TODAY) is None and other.of(second, TODAY) is None


def test_one_token_ends_and_what_cannot_be_is_refused(place):
    own = users(place)
    own.add(User("anne", "reader"))
    first, second = own.new_token("anne", LATER), own.new_token("anne", LATER)
    assert own.revoke_token(first[4:12]).name == "anne"
    assert own.of(first, TODAY) is None and own.of(second, TODAY)
    for wrong in (
        lambda: own.revoke_token("00000000"),
        lambda: own.new_token("eve", LATER),
        lambda: own.add(User("eve", "king")),
        lambda: own.add(User(" eve", "reader")),
    ):
        with pytest.raises(InputError):
            wrong()
    assert users(place).names == ["anne"]


def test_who_has_no_keys_changes_no_role_and_takes_no_revocation_away(place):
    own = users(place)
    own.add(User("anne", "reader"))
    token = own.new_token("anne", LATER)
    own.revoke("anne", TODAY)
    changed(place, "UPDATE diskret_users_log SET text = replace(text, 'reader', 'admin')")
    with pytest.raises(VerificationError):
        users(place)
    changed(place, "UPDATE diskret_users_log SET text = replace(text, 'admin', 'reader')")
    assert users(place).of(token, TODAY) is None
    changed(place, "DELETE FROM diskret_users_log WHERE number = 3")
    with pytest.raises(VerificationError):
        users(place)
    # who runs already knows better
    assert own.of(token, TODAY) is None
    with pytest.raises(dk.DiskretError):
        Users(UserLog(place, SecretKeys(bytes(range(1, 33)))), KEYS)


def test_the_database_holds_no_token(file):
    own = users(file)
    own.add(User("anne", "reader"))
    token = own.new_token("anne", LATER)
    with open(file, "rb") as database:
        assert token.split("_", 2)[2][:40].encode() not in database.read()
    assert own.of(token, date.today() if date.today() <= LATER else TODAY)


def test_where_the_database_does_not_answer_users_stay_as_they_were(file, tmp_path):
    own = users(file)
    own.add(User("anne", "reader"))
    token = own.new_token("anne", LATER)
    (tmp_path / "service.db").rename(tmp_path / "away.db")
    assert own.of(token, TODAY)
    (tmp_path / "away.db").rename(tmp_path / "service.db")
    users(file).revoke("anne", TODAY)
    assert own.of(token, TODAY) is None
