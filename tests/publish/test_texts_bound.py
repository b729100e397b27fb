"""No text of a public file can be altered, but for what only the office knows.

Whoever alters a certificate makes its lists of digests anew. What a page shows again is left out
here, so that the certificate stands alone.
"""

import shutil
import zipfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from altered_texts import CLAIMS, LIE, altered_claims, altered_texts, place, texts_of
from every_family import FAMILIES, KEYS, counts
from golden.make import FEW, OUTSIDER, firms
from profiles import scaled
from released_microdata import microdata, protected
from sabotage import CERTIFICATE, content, put, refresh, stripped

import diskret as dk
from diskret.errors import DiskretError
from diskret.publish.verify.folder import verify
from diskret.texts import Statement, sentence, words_in

HOW = dk.claims

# ── what can be altered, and why ────────────────────────────────────────────────────

#: Kind of file → place → why nobody but the office, or who has its signature, can tell. All of it
#: must look like what stands there; a sentence never does.
FREE = {
    "certificate.json": {
        "software": "any release of the software may have written it",
        "inputs.*": "keyed fingerprints, which only the office can compute",
        "inputs": "a table that was read block by block has none",
        "shown.missing": "the claim is counted again in this way, and holds in this way, too",
        "shown.tables": "which tables a safe file was made for follows from no record",
        "attacker": "what else an informed attacker knew follows from no published value",
        "beside.*": "of the earlier release, which is not given here",
        "refined_to": "it follows from the earlier release; only where there is one",
    },
    "structure.json": {
        "vintage": "the office's own words, which stand in no other file; texts as it likes",
    },
    "derived.json": {"inputs.*": "of the earlier release, which is not given here"},
    "previous.json": {"previous": "of the last delivery, which is not given here"},
}
#: The office's own words, and names that it gave a release: they may say anything.
OWN_WORDS = {
    ("structure.json", "vintage"),
    ("certificate.json", "beside.*.release"),
    ("certificate.json", "beside.*.table"),
}
#: Sentences that may stand in a certificate or not, as far as readers can tell: what they say
#: follows from no published value. Each comes with its own words and in its own place.
OFFICE = {
    "microdata": {
        *("risk", "expected", "population", "l-diversity", "frequencies limited"),  # need weights
        *("missing wildcard", "missing category", "missing conservative"),  # of these claims
        *("missing removed", "attributes", "estimated"),  # follow from these claims
        *("numeric", "weights released", "beside the keys"),  # roles of columns
        *("household visible", "household looked for", "household by values"),
        *("original order", "sample of records", "sample of households", "sample at rates"),
        "why missing",
    },
    "suppression": {
        "group disclosure",  # whether a rule looked for it
        "zeros unknown",  # whether an informed attacker knew that
        *("parts", "parts not judged", "rests", "rests not judged", "other rests"),
        *("crossed", "unrelated variables", "otherwise related variables"),
        *("unlisted contributors", "untold contributions", "told already"),
        "three or more tables",  # where earlier ones are not given
    },
    "rounding": {"suppression.group disclosure", "not examined", "examined"},
}


# ── releases ────────────────────────────────────────────────────────────────────────


def released(md, claims, formats=("csv",), **options):
    return lambda folder: md().release(claims, keys=KEYS, **options).write(folder, formats)


def of_many():
    """Records of which all kinds of claims hold, without a name that is easy to read."""
    draw = np.random.default_rng(3)
    frame = {
        "a, b": draw.choice(["x", "y"], 300).tolist(),
        "b": draw.choice(np.array(["x", None], dtype=object), 300).tolist(),
        "ill": draw.choice(["flu", "none", "cold"], 300).tolist(),
        "pay": draw.integers(0, 9, 300).tolist(),
        "w": [50.0] * 300,
        "more 1": draw.choice(["1", "2"], 300).tolist(),
    }
    return dk.Microdata(
        pa.table(frame), keys=["a, b", "b"], numeric=["pay"], weight="w", sensitive=["ill"]
    )


def population():
    return pa.table({"a, b": ["x", "y"] * 50, "b": ["x"] * 100})


EVERY_CLAIM = [
    HOW.RiskBelow(0.5),
    HOW.KAnonymity(3),
    HOW.KAnonymity(2, keys=["b"], missing="category"),
    HOW.KAnonymity(2, size=1, missing="category"),
    HOW.LDiversity(2),
    HOW.TCloseness(1, missing="category"),
    HOW.AlphaK(1, 2),
    HOW.ExpectedBelow(0.9),
    HOW.KMap(2, population()),
    HOW.NoIdentifiers(),
]


def of_households():
    draw = np.random.default_rng(2)
    frame = pa.table(
        {
            "sex": draw.choice(["f", "m"], 90).tolist(),
            "rent": [400.0 + i // 2 for i in range(90)],
            "hid": [i // 2 for i in range(90)],
        }
    )
    return dk.Microdata(frame, keys=["sex"], household="hid")


def beside(folder):
    """A table that was attacked together with one of an earlier release."""
    ledger = dk.Ledger.create(folder.with_name(f"{folder.name}.db"), keys=KEYS)
    fine = dk.suppress(firms(None), FEW, attacker=OUTSIDER, name="fine")
    ledger.publish(fine, folder.with_name(f"{folder.name} fine"), formats=["csv"], who="clerk")
    region = firms(None, by={"region": None})
    coarse = dk.suppress(region, FEW, attacker=OUTSIDER, ledger=ledger, name="coarse")
    ledger.publish(coarse, folder, formats=["csv"], who="clerk")
    return folder


def informed(folder):
    attacker = dk.Attacker(zeros_known=True)
    return dk.suppress(counts(), FEW, attacker=attacker, name="firms").write(
        folder, ["csv"], keys=KEYS
    )


def rounded(method):
    def made(folder):
        result = dk.round_table(counts(), base=3, method=method, keys=KEYS, name="firms")
        return result.write(folder, ["csv"], keys=KEYS)

    return made


def adjusted(folder):
    return dk.adjust(counts(), FEW, name="firms").write(folder, ["csv"], keys=KEYS)


MADE = FAMILIES | {
    "every claim": released(of_many, EVERY_CLAIM),
    "in order": released(of_many, HOW.RiskBelow(0.9), shuffle=False, weight=False),
    "other claims": released(
        of_many, [HOW.ExpectedBelow(1), HOW.KAnonymity(2, missing="category")]
    ),
    "identifiers": released(microdata, HOW.NoIdentifiers(), columns=["sex"]),
    "a sample": released(lambda: of_many().sample(0.5, seed=1), HOW.KAnonymity(2)),
    "households": released(
        of_households, HOW.KAnonymity(3), attributes=["rent"], tells_household="rent"
    ),
    "to Stata": released(protected, HOW.KAnonymity(3), ("csv", "dta")),
    "beside": beside,
    "informed": informed,
    "adjusted": adjusted,
    "random": rounded("random"),
    "controlled": rounded("controlled"),
    "small counts": rounded("small_counts"),
}


def folders_in(path):
    """The releases that an archive holds."""
    with zipfile.ZipFile(path) as archive:
        return sorted({name.split("/")[0] for name in archive.namelist() if "/" in name})


ARCHIVES = sorted(Path(__file__).parents[1].glob("golden/*.zip"))
GOLDEN = {f"{path.stem} {name}": (path, name) for path in ARCHIVES for name in folders_in(path)}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("texts")


@pytest.fixture(scope="module")
def releases(home):
    """Name → a function that gives the public files alone, made when first asked for."""

    @cache
    def public(name):
        if name in GOLDEN:
            path, inside = GOLDEN[name]
            with zipfile.ZipFile(path) as archive:
                archive.extractall(home / path.stem)
            made = home / path.stem / inside
        else:
            made = MADE[name](home / name)
        folder = Path(shutil.copytree(Path(made) / "public", home / "public" / name))
        stripped(folder)
        verify(folder)
        return folder

    return public


# ── altered texts ───────────────────────────────────────────────────────────────────


def key_of(text):
    """The key of a sentence of certificates."""
    for key, own in words_in("en", "certificates").items():
        if own == text or Statement("certificates", key).blanks_in(text) is not None:
            return key
    return None


def excused(said, new):
    """Whether no more was altered than sentences that depend on what only the office knows."""
    family = said["family"]
    free = {key if "." in key else f"{family}.{key}" for key in OFFICE.get(family, ())}
    both = [
        {pair for key in CLAIMS for pair in zip(*(of[key].get(x, ()) for x in LIE), strict=False)}
        for of in (said, new)
    ]
    return all(key_of(english) in free for english, _ in both[0] ^ both[1])


def accepted(public, path, new):
    kept = {one: one.read_bytes() for one in public.iterdir()}
    put(path, new)
    refresh(public)
    try:
        verify(public)
    except DiskretError:
        return False
    finally:
        for one, bytes_ in kept.items():
            one.write_bytes(bytes_)
    return True


def plausible_sentences(draw, number):
    """Sentences of other certificates, in both languages."""
    whole = [key for key, text in words_in("en", "certificates").items() if "{" not in text]
    return [(one.en, one.de) for one in map(sentence, draw.sample(sorted(whole), number))]


def plausible_texts(said):
    """Place → other texts that can stand there."""
    found = defaultdict(set)
    names = [*said.get("columns", ()), *(axis["name"] for axis in said.get("dimensions", ()))]
    for path, text in texts_of(said):
        if not isinstance(text, str):
            continue
        where = place(path)
        found[where] |= {*names}
        if len(text) == 64:
            found[where].add("0" * 64)
    for where, texts in {
        "attacker": ("outsider", "informed", "contributor"),
        "software": ("diskret 0.0.9",),
        "refined_to": ("equations", "atoms", "combinations"),
        "shown.missing": ("wildcard", "category", "conservative"),
        "shown.method": ("random", "controlled", "small_counts", "deterministic"),
        "kind": ("share", "mean", "growth", "index"),
        "family": ("suppression", "rounding", "adjustment", "cell_key", "microdata", "safe"),
        "vintage": ("2019",),
    }.items():
        found[where] |= {*texts}
    return found


def alterations(public, draw, most):
    """(file, what was done, content, whether only the office could tell)."""
    found = []
    for path in sorted(public.glob("*.json")):
        said, kind = content(path), path.name.split(".", 1)[1]
        if path.name.endswith(CERTIFICATE):
            for what, new in altered_claims(said, plausible_sentences(draw, 5)):
                found.append((path, what, new, lambda said=said, new=new: excused(said, new)))
        for where, what, new in altered_texts(said, plausible_texts(said)):
            # digests are made anew, and labels are the office's own words
            if where.startswith((*CLAIMS, "files", "dimensions")):
                continue
            free = any(where.startswith(one.rstrip("*")) for one in FREE.get(kind, ()))
            free = free and (where != "refined_to" or "beside" in said)
            lied = "a lie" in what and (kind, where) not in OWN_WORDS
            found.append((path, f"{where}: {what}", new, lambda free=free and not lied: free))
    return draw.sample(found, min(most, len(found)))


@pytest.mark.parametrize("name", [*MADE, *GOLDEN])
def test_altered_texts_are_refused(releases, name):
    """Some of them, all in the thorough profile."""
    public, draw = releases(name), Random(name)
    tried = alterations(public, draw, most=scaled(100))
    for path, what, new, free in tried:
        assert not accepted(public, path, new) or free(), (path.name, what)
    assert tried
    verify(public)


@pytest.mark.parametrize("name", [*MADE, *GOLDEN])
def test_a_lie_and_silence_are_refused_of_each_release(releases, name):
    public = releases(name)
    for path in public.glob(f"*{CERTIFICATE}"):
        said = content(path)
        for key in CLAIMS:
            more = {language: [*said[key][language], LIE[language]] for language in LIE}
            for texts in (more, {"en": [], "de": []}):
                assert not accepted(public, path, said | {key: texts})
    verify(public)
