"""Users and their tokens: who is let in, and what the file tells whoever reads or writes it."""

import os
import re
import secrets
import string
import tomllib
import traceback
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.errors import DiskretError, InputError, JobError
from diskret.keys import SecretKeys
from diskret.serve.tokens import _check, checked_token
from diskret.serve.users import ROLES, User, Users, make_users

KEYS = SecretKeys(bytes(range(32)))
TODAY = date(2026, 5, 4)
LATER = TODAY + timedelta(30)


@pytest.fixture
def path(tmp_path):
    make_users(tmp_path / "users.toml")
    return tmp_path / "users.toml"


@pytest.fixture
def users(path):
    found = Users(path, KEYS)
    found.add(User("anne", "reader", ("census",)))
    found.add(User("Zoë 'O\\'", "admin"))
    return found


def test_a_token_is_its_users_until_its_last_day(users, path):
    token = users.new_token("anne", LATER)
    assert users.of(token, TODAY) == User("anne", "reader", ("census",))
    assert users.of(token, LATER) == users.user("anne")
    assert users.of(token, LATER + timedelta(1)) is None
    other = users.new_token("Zoë 'O\\'", LATER)
    assert users.of(other, TODAY) == User("Zoë 'O\\'", "admin")
    assert Users(path, KEYS).of(token, TODAY) == users.of(token, TODAY)


def test_what_was_revoked_is_over_and_a_new_token_is_not(users):
    first, second = users.new_token("anne", LATER), users.new_token("anne", LATER)
    assert users.revoke("anne", TODAY) == 2
    assert users.of(first, TODAY) is None and users.of(second, TODAY) is None
    assert users.of(users.new_token("anne", LATER), TODAY) is not None
    assert users.revoke("anne", TODAY) == 1 and users.revoke("anne", TODAY) == 0


def test_a_user_is_what_was_said_last(users):
    token = users.new_token("anne", LATER)
    users.add(User("anne", "owner"))
    assert users.of(token, TODAY) == User("anne", "owner", None)


def test_no_other_token_is_taken(users):
    token = users.new_token("anne", LATER)
    last = "A" if token[20] != "A" else "B"
    for wrong in (
        token[:-1],
        token + "a",
        token.upper(),
        token[:20] + last + token[21:],
        token.replace("dsk_", "dsk-"),
        "",
        "dsk_" + "0" * 8 + "_" + "a" * 47,
        token[:-4] + "0000" if not token.endswith("0000") else token[:-4] + "1111",
        f" {token}",
        token + "\n",
    ):
        assert users.of(wrong, TODAY) is None, wrong


def test_a_mistyped_token_is_told_before_it_is_sent(users):
    token = users.new_token("anne", LATER)
    assert checked_token(f" {token}\n") == token
    for at in (5, 14, 30, len(token) - 1):
        wrong = token[:at] + ("0" if token[at] != "0" else "1") + token[at + 1 :]
        with pytest.raises(InputError, match="no token") as error:
            checked_token(wrong)
        assert wrong not in str(error.value)


def test_the_file_holds_no_token_and_nobody_makes_one_without_keys(users, path):
    token = users.new_token("anne", LATER)
    secret = token.split("_", 2)[2][:43]  # may hold "_" itself
    assert len(secret) == 43 and secret not in path.read_text()
    assert Users(path, SecretKeys(bytes(range(1, 33)))).of(token, TODAY) is None
    # a hash is of no use to another user
    text = path.read_text()
    path.write_text(text.replace('user = "anne"', "user = \"Zoë 'O\\\\'\""))
    assert path.read_text() != text
    assert Users(path, KEYS).of(token, TODAY) is None
    assert repr(users) == f"Users({str(path)!r})" and "token" not in vars(users)


def test_words_of_people_stay(users, path):
    text = path.read_text() + "\n# Anne is on leave until June.\n"
    path.write_text(text)
    users.new_token("anne", LATER)
    users.revoke("anne", TODAY)
    assert path.read_text().startswith(text)


def test_the_file_is_read_again_when_it_changes(users, path):
    token = users.new_token("anne", LATER)
    Users(path, KEYS).revoke("anne", TODAY)
    assert users.of(token, TODAY) is None


def test_a_broken_change_keeps_the_users_and_says_so(users, path, caplog):
    token = users.new_token("anne", LATER)
    text = path.read_text()
    assert users.of(token, TODAY) is not None
    path.write_text(text + "\n[[users]\n")
    assert users.of(token, TODAY) is not None and "line" in caplog.text
    with pytest.raises(JobError):
        users.add(User("bob", "reader"))
    path.unlink()
    assert users.of(token, TODAY) is not None
    path.write_text(text)
    path.chmod(0o600)
    assert users.of(token, TODAY) is not None


@pytest.mark.skipif(os.name != "posix", reason="optional: Windows has other permissions")
def test_a_file_that_others_can_read_is_refused(users, path):
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        Users(path, KEYS)


def test_what_somebody_else_began_meanwhile_is_not_taken_away(users, path, monkeypatch):
    beside = path.with_name(f".{path.name}.new")
    flushed = os.fsync

    def another(descriptor):  # of the folder: the file is in its place, and its room is free again
        flushed(descriptor)
        if not beside.exists():
            beside.touch()

    monkeypatch.setattr(os, "fsync", another)
    users.add(User("bob", "reader"))
    assert beside.exists() == (os.name == "posix") and "bob" in users.names


def test_two_who_change_it_at_once_lose_nothing(users, path):
    beside = path.with_name(f".{path.name}.new")
    beside.touch()
    with pytest.raises(InputError, match=re.escape(str(beside))):
        users.add(User("bob", "reader"))
    beside.unlink()
    users.add(User("bob", "reader"))
    assert users.names == ["anne", "Zoë 'O\\'", "bob"] and not beside.exists()


HASH = "0" * 64
TOKEN = f'[[tokens]]\nnumber = "00000001"\nuser = "a"\nhash = "{HASH}"\nuntil = 2026-01-01\n'
ANNE = '[[users]]\nname = "a"\nrole = "reader"\n'


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[users]]\nname = "a"\nrole = "king"', 4, "must not be 'king'"),
        ('[[users]]\nname = "a"', 2, "'role' is missing"),
        (TOKEN, 4, "no user"),
        (ANNE + 'password = "x"', 5, "unknown key"),
        (ANNE.replace('"a"', '" a"'), 3, "no blank at either end"),
        (ANNE.replace('"a"', '"Zoe\u0308"'), 3, "composed"),
        (ANNE.replace('"a"', '"a\\tb"'), 3, "can be printed"),
        (ANNE.replace('"a"', f'"{"a" * 101}"'), 3, "1 to 100"),
        (ANNE + "data = []", 5, "a list of texts"),
        (ANNE + TOKEN.replace("00000001", "1"), 6, "eight digits"),
        (ANNE + TOKEN.replace(HASH, "dsk_secret"), 8, "diskret users token"),
        (ANNE + TOKEN.replace("2026-01-01", '"2026-01-01"'), 9, "without quotes"),
        (ANNE + TOKEN.replace("2026-01-01", "2026-01-01T00:00:00"), 9, "without quotes"),
        (ANNE + TOKEN + TOKEN, 11, "there twice"),
        (ANNE + TOKEN + '[[revoked]]\nnumber = "00000002"', 11, "no token 00000002"),
        (ANNE + TOKEN + '[[revoked]]\nnumber = "00000001"\nuntil = 1', 12, "without quotes"),
        (ANNE + "[[users]", 5, "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(path, text, line, said):
    path.write_text(path.read_text() + text + "\n", encoding="utf-8")
    with pytest.raises(JobError) as error:
        Users(path, KEYS)
    assert f"{path}, line {line}: " in str(error.value) and said in str(error.value)
    assert "dsk_secret" not in str(error.value)


def test_a_file_that_is_no_text_is_refused(path):
    path.write_bytes(b"# caf\xe9\n")
    with pytest.raises(InputError, match="UTF-8"):
        Users(path, KEYS)
    path.unlink()
    with pytest.raises(InputError, match="diskret users add"):
        Users(path, KEYS)
    path.mkdir()
    with pytest.raises(InputError, match="diskret users add"):
        Users(path, KEYS)


def test_what_cannot_be_a_user(users):
    for user in (
        User("x", "king"),
        User("", "reader"),
        User("a\nb", "reader"),
        User("x ", "reader"),
        User("Zoe\u0308", "reader"),
        User("x" * 101, "reader"),
        User("x", "reader", ()),
        User("x", "reader", ("",)),
        User("x", "reader", ("census", "census")),
    ):
        with pytest.raises(InputError):
            users.add(user)
    assert users.names == ["anne", "Zoë 'O\\'"]
    for asked in (
        lambda: users.new_token("nobody", LATER),
        lambda: users.revoke("nobody", TODAY),
        lambda: users.tokens("nobody", TODAY),
    ):
        with pytest.raises(InputError, match="no user 'nobody'"):
            asked()
    with pytest.raises(InputError, match="already"):
        make_users(users._path)


def test_no_role_may_do_everything():
    everything = set().union(*ROLES.values())
    assert all(rights < everything for rights in ROLES.values())
    assert not ROLES["admin"] & {"ask", "analyse", "see_resistance"}


# ── renewed and revoked ─────────────────────────────────────────────────────────────


def test_a_renewed_token_leaves_the_old_one_until_a_day(users):
    old, soon = users.new_token("anne", LATER), TODAY + timedelta(7)
    short, other = users.new_token("anne", TODAY), users.new_token("Zoë 'O\\'", LATER)
    new = users.new_token("anne", LATER, others_until=soon)
    assert all(users.of(token, soon) for token in (old, new, other))
    assert users.of(old, soon + timedelta(1)) is None
    assert users.of(new, LATER) and users.of(other, LATER)
    # an end that is later than the token's own day gives it no more days
    assert users.of(short, TODAY) and users.of(short, soon) is None
    users.new_token("anne", LATER, others_until=date.max)
    assert users.of(old, soon + timedelta(1)) is None
    assert [one.until for one in users.tokens("anne", soon)] == [soon, LATER, LATER]


def test_the_earliest_end_counts_in_whatever_order_they_stand(users, path):
    token, text = users.new_token("anne", LATER), path.read_text()
    number = token[4:12]
    ends = [f'[[revoked]]\nnumber = "{number}"\nuntil = {day}\n' for day in (LATER, TODAY)]
    for order in (ends, ends[::-1]):
        path.write_text(text + "".join(order))
        assert users.of(token, TODAY) and users.of(token, TODAY + timedelta(1)) is None


def test_one_token_is_revoked_by_itself_or_its_number(users):
    first, second, third = (users.new_token("anne", LATER) for _ in range(3))
    assert users.revoke_token(f" {first}\n").name == "anne"
    assert users.revoke_token(second[4:12]).name == "anne"
    assert users.revoke_token(second[4:12]).name == "anne"  # again does no harm
    assert users.of(first, TODAY) is users.of(second, TODAY) is None
    assert users.of(third, TODAY) and [one.number for one in users.tokens("anne", TODAY)] == [
        third[4:12]
    ]
    unknown = f"dsk_{'0' * 8}_{'x' * 47}"
    for wrong in (unknown, "", third[:-1], third[4:11]):
        with pytest.raises(InputError, match="no such token") as error:
            users.revoke_token(wrong)
        assert "x" * 47 not in str(error.value) and third[13:56] not in str(error.value)
    assert users.of(third, TODAY)


def test_a_number_is_never_drawn_again(users, monkeypatch):
    revoked = users.new_token("anne", LATER)
    users.revoke_token(revoked)
    drawn = iter([revoked[4:12], revoked[4:12], "0000000f"])
    monkeypatch.setattr(secrets, "token_hex", lambda count: next(drawn))
    assert users.new_token("anne", LATER).startswith("dsk_0000000f_")
    assert users.of(revoked, TODAY) is None


# ── guesses ─────────────────────────────────────────────────────────────────────────


def made(number, secret):
    """A token with the right check digits: anybody can compute them."""
    return f"dsk_{number}_{secret}{_check(number, secret)}"


def test_thousands_of_guesses_get_nothing(users):
    """All tokens that differ from a valid one in one place, and random ones of its number."""
    token = users.new_token("anne", LATER)
    number, secret = token[4:12], token[13:56]
    assert made(number, secret) == token
    signs = string.ascii_letters + string.digits + "-_"
    guesses = [
        token[:at] + sign + token[at + 1 :]
        for at in range(len(token))
        for sign in signs
        if sign != token[at]
    ]
    checked = [made(one[4:12], one[13:56]) for one in guesses]
    random = [made(number, secrets.token_urlsafe(32)) for _ in range(1000)]
    assert len(guesses) > 3000
    for one in guesses + checked + random:
        assert users.of(one, TODAY) is None or one == token
    assert users.of(token, TODAY) == users.user("anne")


def test_parts_of_two_tokens_make_none(users):
    anne, admin = users.new_token("anne", LATER), users.new_token("Zoë 'O\\'", LATER)
    for at in range(4, len(anne)):
        for one in (anne[:at] + admin[at:], admin[:at] + anne[at:]):
            for guess in (one, made(one[4:12], one[13:56])):
                assert users.of(guess, TODAY) is None or guess in (anne, admin)


def test_a_hash_fits_neither_another_user_nor_another_number(users, path):
    anne, admin = users.new_token("anne", LATER), users.new_token("Zoë 'O\\'", LATER)
    text = path.read_text()
    hashes = re.findall(r'hash = "(\w+)"', text)
    swapped = text.replace(hashes[0], "~").replace(hashes[1], hashes[0]).replace("~", hashes[1])
    path.write_text(text.replace(hashes[1], hashes[0]))
    assert users.of(admin, TODAY) is None and users.of(anne, TODAY)
    path.write_text(swapped)
    assert users.of(admin, TODAY) is None and users.of(anne, TODAY) is None
    path.write_text(text)
    second = users.new_token("anne", LATER)
    own = re.findall(r'hash = "(\w+)"', path.read_text())[2]
    path.write_text(path.read_text().replace(own, hashes[0]))
    assert users.of(anne, TODAY) and users.of(second, TODAY) is None
    assert users.of(made(second[4:12], anne[13:56]), TODAY) is None
    # neither the hash itself nor that of an empty file's place-holder lets anybody in
    for guess in (hashes[0], f"dsk_{anne[4:12]}_{hashes[0][:47]}", f"dsk_{'0' * 8}_{'0' * 47}"):
        assert users.of(guess, TODAY) is None


def test_tokens_are_never_the_same_and_scanners_know_them(users):
    drawn = [users.new_token("anne", LATER) for _ in range(20)]
    assert len({one[13:56] for one in drawn}) == len({one[4:12] for one in drawn}) == 20
    for one in drawn:  # what a scanner of secrets looks for
        assert re.fullmatch(r"dsk_[0-9a-f]{8}_[A-Za-z0-9_-]{43}[0-9a-f]{4}", one)


@given(st.data())
@examples(60)
def test_one_that_is_mistyped_is_told_by_its_reader_and_not_by_the_service(data):
    with TemporaryDirectory() as folder:
        make_users(f"{folder}/users.toml")
        users = Users(f"{folder}/users.toml", KEYS)
        users.add(User("anne", "reader"))
        token = users.new_token("anne", LATER)
        at = data.draw(st.integers(0, len(token) - 2))
        wrong = token[:at] + token[at + 1] + token[at] + token[at + 2 :]
        assert (users.of(wrong, TODAY) is None) == (wrong != token)
        assert users.of(token[:at], TODAY) is None
        with pytest.raises(InputError):
            checked_token(token[:at])


# ── what is told ────────────────────────────────────────────────────────────────────


def test_nothing_shows_a_token_or_hash(users, path, caplog):
    token = users.new_token("anne", LATER)
    hidden = [token[13:56], *re.findall(r'hash = "(\w+)"', path.read_text())]
    shown = [repr(users), repr(vars(users)), repr(users.tokens("anne", TODAY)), repr(KEYS)]
    text = path.read_text()
    for broken in (
        text + "[[users]",
        text + text[text.index("[[tokens]]") :],
        text.replace(token[4:12], "x"),
        text.replace('user = "anne"', 'user = "nobody"'),
        text.replace('hash = "', f'hash = "{token}'),
        text.replace("hash =", "hashes ="),
        text.replace("until = ", "until = 1 #"),
    ):
        path.write_text(broken)
        with pytest.raises(JobError) as error:
            Users(path, KEYS)
        shown += [str(error.value), "".join(traceback.format_exception(error.value))]
        assert users.of(token, TODAY)
    shown += [caplog.text, *(record.getMessage() for record in caplog.records)]
    assert len(caplog.records) == 7
    assert [one for one in hidden if any(one in text for text in shown)] == []


# ── the file ────────────────────────────────────────────────────────────────────────

NAMES = st.text(min_size=1, max_size=100).filter(
    lambda name: name.isprintable() and name == unicodedata.normalize("NFC", name).strip()
)
COLLIDING = st.sampled_from(["a", "A", "á", "a'", 'a"', "a\\", "a\\n", "[[users]]", "#", "😀", "="])


@given(
    st.dictionaries(
        NAMES | COLLIDING,
        st.tuples(
            st.sampled_from([*ROLES]),
            st.none() | st.lists(NAMES | COLLIDING, min_size=1, max_size=3, unique=True),
        ),
        min_size=1,
        max_size=3,
    )
)
@examples(40)
def test_the_file_says_what_was_added(said):
    with TemporaryDirectory() as folder:
        path = f"{folder}/users.toml"
        make_users(path)
        users = Users(path, KEYS)
        wanted = {
            name: User(name, role, None if data is None else tuple(data))
            for name, (role, data) in said.items()
        }
        tokens = {}
        for name, user in wanted.items():
            users.add(user)
            tokens[name] = users.new_token(name, LATER)
        for found in (users, Users(path, KEYS)):
            assert found.names == [*wanted]
            assert {name: found.of(token, TODAY) for name, token in tokens.items()} == wanted


@given(st.text() | st.binary().map(lambda some: some.decode("latin-1")), st.booleans())
@examples(100)
def test_no_file_breaks_the_reader(text, beside):
    with TemporaryDirectory() as folder:
        path = f"{folder}/users.toml"
        make_users(path)
        with open(path, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(ANNE + TOKEN + text if beside else text)
        try:
            Users(path, KEYS)
        except DiskretError as error:
            assert path in str(error)


def test_what_is_wrong_is_said_once_and_the_file_is_not_read_in_vain(users, path, caplog):
    token = users.new_token("anne", LATER)
    assert users.of(token, TODAY)
    path.write_text("[[users]\n")
    for _ in range(5):
        assert users.of(token, TODAY)
    assert len(caplog.records) == 1
    path.unlink()
    for _ in range(5):
        assert users.of(token, TODAY)
    assert len(caplog.records) == 2


@pytest.mark.skipif(os.name != "posix", reason="optional: Windows has other permissions")
def test_a_file_that_is_closed_to_others_again_is_read_again(users, path):
    token = users.new_token("anne", LATER)
    assert users.of(token, TODAY)
    path.chmod(0o644)
    assert users.of(token, TODAY)
    with path.open("a") as file:
        file.write(f'[[revoked]]\nnumber = "{token[4:12]}"\n')
    assert users.of(token, TODAY)  # what stands open is not believed
    path.chmod(0o600)
    assert users.of(token, TODAY) is None


def test_a_change_of_the_same_length_is_seen(users, path):
    text, token = path.read_text(), users.new_token("anne", LATER)
    assert users.of(token, TODAY).role == "reader"
    changed = path.read_text().replace('"reader"', '"owner" ')
    assert len(changed) == len(path.read_text()) and text in path.read_text()
    path.write_text(changed)
    assert users.of(token, TODAY).role == "owner"


def test_who_adds_nothing_changes_nothing(users, path):
    before = path.stat()
    assert users.revoke("anne", TODAY) == 0
    assert path.stat() == before and [*path.parent.iterdir()] == [path]


def test_a_change_that_would_break_the_file_is_not_made(users, path):
    """Hand-written users in one line cannot be added to."""
    path.write_text('users = [{ name = "anne", role = "reader" }]\n')
    text = path.read_text()
    assert users.names == ["anne"]
    with pytest.raises(JobError):
        users.add(User("bob", "reader"))
    assert path.read_text() == text and [*path.parent.iterdir()] == [path]
    token = users.new_token("anne", LATER)
    assert users.of(token, TODAY) and tomllib.loads(path.read_text())["users"]


@pytest.mark.skipif(os.name != "posix", reason="optional: links need rights on Windows")
def test_the_file_behind_a_link_is_changed(users, path, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path.rename(folder / "real.toml")
    path.symlink_to(folder / "real.toml")
    token = users.new_token("anne", LATER)
    assert path.is_symlink() and Users(folder / "real.toml", KEYS).of(token, TODAY)
    assert (folder / "real.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="optional: only the superuser gives files away"
)
def test_what_the_superuser_changes_stays_the_services_own(users, path):
    os.chown(path, 1234, -1)
    users.new_token("anne", LATER)
    assert path.stat().st_uid == 1234 and path.stat().st_mode & 0o777 == 0o600


def test_a_change_that_is_cut_off_leaves_the_file_as_it_was(users, path, monkeypatch):
    text = path.read_text()

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            users.new_token("anne", LATER)
    assert path.read_text() == text and [*path.parent.iterdir()] == [path]
    users.new_token("anne", LATER)


def test_lines_that_end_otherwise_stay(users, path):
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = path.read_bytes()
    token = users.new_token("anne", LATER)
    assert path.read_bytes().startswith(before) and users.of(token, TODAY)


def test_threads_read_while_others_change(users, path):
    token = users.new_token("anne", LATER)
    other = Users(path, KEYS)

    def work(at):
        if at % 10 == 0:
            try:
                other.new_token("Zoë 'O\\'", LATER)
            except InputError as error:  # somebody else is about to
                assert "is being changed" in str(error)
        return users.of(token, TODAY)

    with ThreadPoolExecutor(4) as pool:
        assert {*pool.map(work, range(200))} == {User("anne", "reader", ("census",))}
