"""Read with pysdmx what `release.py` wrote, against a structure made here: python read.py FOLDER

Runs in an environment of its own: pysdmx wants an older pyarrow than diskret has.
"""

# pysdmx is in that environment alone.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import sys
from pathlib import Path

from pysdmx.errors import Invalid
from pysdmx.io import get_datasets, read_sdmx, write_sdmx
from pysdmx.io.format import Format
from pysdmx.model import (
    Code,
    Codelist,
    Component,
    Components,
    Concept,
    ConceptScheme,
    Dataflow,
    DataStructureDefinition,
    DataType,
    Role,
)

#: OBS_STATUS and CONF_STATUS of a cell, published and suppressed, in each set of flags.
FLAGS = {
    "sdmx": {"published": ("A", "F"), "suppressed": ("Q", "C")},
    "eurostat": {"published": ("", ""), "suppressed": ("", "C")},
}


def structure(path: Path, agency: str, codes: dict[str, set[str]]) -> None:
    """Write code lists, a structure of data and a dataflow that names it."""
    maintainer = {"agency": agency, "version": "1.0"}
    lists = {
        name: Codelist(
            f"CL_{name.upper()}", name=name, items=[Code(c, name=c) for c in sorted(own)],
            **maintainer
        )
        for name, own in codes.items()
    }  # fmt: skip
    concepts = {
        name: Concept(
            name, name=name, dtype=DataType.STRING,
            urn=f"urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept={agency}:CS(1.0).{name}",
        )
        for name in (*codes, "TIME_PERIOD", "OBS_VALUE")
    }  # fmt: skip

    def component(name: str, role: Role, dtype: DataType | None = None) -> Component:
        attached = "O" if role == Role.ATTRIBUTE else None
        required = role == Role.DIMENSION
        return Component(
            name, required, role, concepts[name], local_dtype=dtype, attachment_level=attached,
            local_codes=lists.get(name),
        )  # fmt: skip

    dimensions = [name for name in codes if not name.endswith("_STATUS")]
    components = Components([
        *(component(name, Role.DIMENSION) for name in dimensions),
        component("TIME_PERIOD", Role.DIMENSION, DataType.PERIOD),
        component("OBS_VALUE", Role.MEASURE, DataType.DECIMAL),
        *(component(name, Role.ATTRIBUTE) for name in codes if name.endswith("_STATUS")),
    ])  # fmt: skip
    definition = DataStructureDefinition("TURNOVER", components=components, name="t", **maintainer)
    flow = Dataflow("turnover", structure=definition, name="t", **maintainer)
    scheme = ConceptScheme("CS", name="c", items=list(concepts.values()), **maintainer)
    write_sdmx([*lists.values(), scheme, definition, flow], Format.STRUCTURE_SDMX_ML_3_0, str(path))


def check(folder: Path, symbols: str, ending: str, expected: list[dict[str, str | None]]) -> None:
    """Values, flags and codes of a file are those of the release, and those of the structure."""
    path = folder / symbols / "public" / f"turnover{ending}"
    (bare,) = read_sdmx(path).data
    agency = bare.structure.partition("=")[2].partition(":")[0]
    codes = {name: {str(one[name]) for one in expected} for name in ("town", "branch")}
    codes |= {"OBS_STATUS": set("AQM"), "CONF_STATUS": set("FCNP")}
    about = folder / "structure.xml"
    structure(about, agency, codes)
    (read,) = get_datasets(path, about)
    schema = read.structure
    assert not isinstance(schema, str), f"{path}: no structure was found for {schema}"
    for component in schema.components:
        assert component.id in read.data.columns, f"{path}: {component.id} is missing"
        if component.enumeration is not None:
            known = {code.id for code in component.enumeration}
            found = {one for one in read.data[component.id].astype(str) if one}
            assert found <= known, f"{path}: {found - known} are no codes of {component.id}"
    assert set(read.data.columns) == {one.id for one in schema.components}
    # as text: exactly what stands in the file
    names = ["town", "branch", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"]
    rows = [tuple(map(str, row)) for row in bare.data[names].fillna("").itertuples(index=False)]
    wanted = [
        (one["town"], one["branch"], one["turnover"] or "", *FLAGS[symbols][str(one["status"])])
        for one in expected
    ]
    assert set(bare.data["TIME_PERIOD"].astype(str)) == {"2025"}
    assert sorted(rows) == sorted(wanted), f"{path}: {sorted(set(rows) ^ set(wanted))[:6]}"


def refuses_others(folder: Path) -> None:
    """The check can fail: a value that is no number is refused against the structure."""
    path = folder / "sdmx" / "public" / "turnover.sdmx1.csv"
    wrong = folder / "wrong.csv"
    text = path.read_text(encoding="utf-8").splitlines()
    fields = text[1].split(",")
    wrong.write_text("\n".join([text[0], ",".join([*fields[:4], "x", *fields[5:]])]) + "\n",
                     encoding="utf-8")  # fmt: skip
    try:
        get_datasets(wrong, folder / "structure.xml")
    except Invalid:
        return
    raise AssertionError("a value that is no number was accepted")


def main(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    for symbols, cells in expected.items():
        for ending in (".sdmx1.csv", ".sdmx2.csv"):
            check(folder, symbols, ending, cells)
            sys.stdout.write(f"{symbols}{ending}: {len(cells)} observations as they should be\n")
    refuses_others(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
