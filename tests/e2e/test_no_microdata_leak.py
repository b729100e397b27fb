"""Every byte that leaves with microdata is read: no identifier, no hidden value, no setting."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import diskret as dk
from diskret.anonymize.verb import Step
from diskret.attack.microdata.claims import ExpectedBelow, KAnonymity, LDiversity, RiskBelow

MASTER = bytes(range(32))
KEYS = dk.SecretKeys(MASTER)
HIDDEN = "Sperrstadt"
SEED, RISK, RATE, STAY = 86420975, 0.34127, 0.31973, 0.77331


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    draw = np.random.default_rng(5)
    n = 900
    town = draw.choice(["Nord", "Sued", "West"], n).astype(object)
    town[[100, 400]] = HIDDEN
    frame = pd.DataFrame(
        {
            "person_no": [f"ID-{700000 + 37 * i}" for i in range(n)],
            "surname": [f"Mustermann{i:04}" for i in range(n)],
            "household": 50_000_000 + np.arange(n) // 4 * 11,
            "town": pd.Categorical(town, categories=["Nord", "Sued", "West", HIDDEN]),
            "place": [f"Ortsteil-{value}-{i % 7}" for i, value in enumerate(town)],
            "age": draw.integers(2, 9, n) * 10,
            "job": draw.choice(["baker", "clerk", "nurse"], n),
            "illness": draw.choice(["flu", "none", "asthma"], n),
            "weight": 40 + draw.integers(0, 3, n) * 1.5,
            "comment": [f"Vermerk {i}" for i in range(n)],
        },
        index=pd.Index(900_000_000 + np.arange(n), name="secret_row"),
    )
    frame.attrs["origin"] = "Melderegister"
    md = dk.Microdata(
        frame,
        keys=["town", "age", "job"],
        sensitive=["illness"],
        weight="weight",
        household="household",
        id="person_no",
        identifiers=["surname"],
        followers={"town": "place"},
    )
    column = md.coded("town")
    hidden = column.codes == column.categories.to_pylist().index(HIDDEN)
    arguments = {"k": 3, "importance": ["job", "age", "town"], "subset_name": "Geheimregel"}
    found = {"suppressed": {"town": int(hidden.sum())}, "rows": [101, 401]}
    md = md.after(
        {"town": column.without(hidden).column()}, Step("local_suppression", arguments, found)
    )
    before = md.table_column("job").to_pylist()
    swapped = ["clerk" if i % 50 == 0 else value for i, value in enumerate(before)]
    md = md.after(
        {"job": pa.chunked_array([swapped])},
        Step("pram", {"variables": ["job"], "stay": STAY, "seed": SEED}, {"job": 17}),
    )
    claims = [KAnonymity(3), RiskBelow(RISK), ExpectedBelow(RATE), LDiversity(2)]
    result = md.release(claims, household=True, id=True, keys=KEYS)
    folder = tmp_path_factory.mktemp("leak") / "out"
    return result, result.write(folder, language="de", title="Personen")


def every_byte(folder):
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        yield path.name, content
        if path.suffix == ".parquet":  # compressed, so its cells are read
            file = pq.ParquetFile(path)
            statistics = [
                str(file.metadata.row_group(g).column(c))
                for g in range(file.metadata.num_row_groups)
                for c in range(file.metadata.num_columns)
            ]
            shown = f"{file.read().to_pylist()} {file.metadata} {file.schema} {statistics}"
            yield f"{path.name} unpacked", shown.encode()


def public_frame(result):
    """The frame in memory, with everything that pickles along."""
    buffer = io.BytesIO()
    result.public.to_pickle(buffer)
    return buffer.getvalue()


def secrets():
    texts = [HIDDEN, "Mustermann", "ID-7", "Ortsteil", "Vermerk", "Melderegister", "Geheimregel"]
    texts += ["surname", "secret_row", "comment", "place"]
    texts += [str(50_000_000 + 11 * i) for i in range(225)] + ["9000000", "9000008"]
    texts += [str(SEED), *(str(x) for x in (RISK, RATE, STAY))]
    texts += [str(x).replace(".", ",") for x in (RISK, RATE, STAY)]
    return texts


def settings_words():
    return ["local_suppression", "pram", "stay", "seed", "importance", "threshold", "diversity"]


def test_no_identifier_no_hidden_value_and_no_setting(released):
    _, folder = released
    for name, content in every_byte(folder / "public"):
        found = [s for s in (*secrets(), *settings_words()) if s.encode() in content]
        assert not found, f"{name} holds {found}"


def test_the_frame_in_memory_holds_none_either(released):
    result, _ = released
    content = public_frame(result)
    assert not [s for s in secrets() if s.encode() in content]


def test_no_key_and_no_trace_of_the_machine(released):
    _, folder = released
    traces = [MASTER, MASTER.hex().encode(), str(folder.parent).encode()]
    traces += [KEYS.subkey("fingerprint: records").hex().encode()]
    for name, content in every_byte(folder / "public"):
        assert not [t for t in traces if t in content], name


def test_the_scan_would_find_a_leak(released):
    result, folder = released
    inside = b"".join(content for _, content in every_byte(folder / "internal"))
    for secret in (str(SEED), str(RISK), "Geheimregel", "ID-7", "local_suppression"):
        assert secret.encode() in inside
    assert HIDDEN.encode() in b"".join(
        str(value).encode() for value in result.microdata.original.frame["town"]
    )


def test_numbers_that_leave_are_not_those_of_the_office(released):
    result, _ = released
    original = result.microdata.original.frame
    assert not set(result.public["household"]) & set(original["household"])
    assert not set(result.public["person_no"].astype(str)) & set(original["person_no"])


def test_which_missing_values_were_suppressed_is_not_told(released):
    _, folder = released
    certificate = json.loads((folder / "public" / "microdata.certificate.json").read_text("utf-8"))
    assert "suppressed" not in json.dumps(certificate)
    # anyone can count these in the file: gaps that were there before are among them
    counted = {"unlike", "lean_on_gaps"}
    assert set(certificate["shown"]) - counted == {"k", "keys", "missing"}
