"""The classifications of the made-up business register, with what is typical of each code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskret.hierarchy import Hierarchy

#: NACE Rev. 2 sections.
SECTIONS = {
    "B": "Mining and quarrying",
    "C": "Manufacturing",
    "D": "Electricity, gas, steam",
    "E": "Water supply, waste management",
    "F": "Construction",
    "G": "Trade, repair of vehicles",
    "H": "Transportation and storage",
    "I": "Accommodation and food service",
    "J": "Information and communication",
    "M": "Professional and technical activities",
}

#: Division, section, label, share of firms in per mille, turnover per employee in 1000 euros,
#: typical number of employees.
DIVISIONS = (
    ("08", "B", "Other mining and quarrying", 2, 240, 8.0),
    ("10", "C", "Food products", 20, 190, 9.0),
    ("20", "C", "Chemicals", 5, 420, 12.0),
    ("25", "C", "Fabricated metal products", 28, 150, 9.0),
    ("28", "C", "Machinery and equipment", 16, 230, 14.0),
    ("29", "C", "Motor vehicles", 4, 480, 16.0),
    ("35", "D", "Electricity, gas, steam", 12, 900, 3.0),
    ("38", "E", "Waste collection, materials recovery", 6, 260, 8.0),
    ("41", "F", "Construction of buildings", 28, 210, 5.0),
    ("42", "F", "Civil engineering", 10, 190, 9.0),
    ("43", "F", "Specialised construction", 125, 120, 3.5),
    ("45", "G", "Motor trade and repair", 45, 330, 4.0),
    ("46", "G", "Wholesale trade", 75, 620, 4.5),
    ("47", "G", "Retail trade", 130, 210, 3.5),
    ("49", "H", "Land transport", 38, 120, 5.0),
    ("52", "H", "Warehousing, transport support", 16, 240, 7.0),
    ("53", "H", "Postal and courier activities", 12, 80, 4.0),
    ("55", "I", "Accommodation", 22, 75, 5.0),
    ("56", "I", "Food and beverage service", 85, 55, 4.0),
    ("58", "J", "Publishing", 8, 180, 6.0),
    ("62", "J", "Computer programming, consultancy", 65, 150, 3.5),
    ("69", "M", "Legal and accounting activities", 70, 100, 3.5),
    ("70", "M", "Head offices, management consultancy", 75, 200, 2.5),
    ("71", "M", "Architecture, engineering", 68, 110, 3.5),
    ("72", "M", "Research and development", 10, 130, 5.0),
)

#: What the German classification (WZ 2008) calls them, shortened.
NACE_IN_GERMAN = {
    "B": "Bergbau und Gewinnung von Steinen und Erden",
    "C": "Verarbeitendes Gewerbe",
    "D": "Energieversorgung",
    "E": "Wasserversorgung, Entsorgung",
    "F": "Baugewerbe",
    "G": "Handel, Instandhaltung von Kfz",
    "H": "Verkehr und Lagerei",
    "I": "Gastgewerbe",
    "J": "Information und Kommunikation",
    "M": "Freiberufliche und technische Dienstleistungen",
    "08": "Gewinnung von Steinen und Erden",
    "10": "Nahrungs- und Futtermittel",
    "20": "Chemische Erzeugnisse",
    "25": "Metallerzeugnisse",
    "28": "Maschinenbau",
    "29": "Kraftwagen und Kraftwagenteile",
    "35": "Energieversorgung",
    "38": "Abfallentsorgung, Rückgewinnung",
    "41": "Hochbau",
    "42": "Tiefbau",
    "43": "Vorbereitende Baustellenarbeiten, Ausbau",
    "45": "Kfz-Handel und -Instandhaltung",
    "46": "Großhandel",
    "47": "Einzelhandel",
    "49": "Landverkehr",
    "52": "Lagerei, Dienstleistungen für den Verkehr",
    "53": "Post-, Kurier- und Expressdienste",
    "55": "Beherbergung",
    "56": "Gastronomie",
    "58": "Verlagswesen",
    "62": "Informationstechnologie",
    "69": "Rechts- und Steuerberatung",
    "70": "Verwaltung und Führung von Unternehmen",
    "71": "Architektur- und Ingenieurbüros",
    "72": "Forschung und Entwicklung",
}

PARTS = {"N": "North", "W": "West", "S": "South", "E": "East"}
PARTS_IN_GERMAN = {"N": "Norden", "W": "Westen", "S": "Süden", "E": "Osten"}

#: Official code of the state, part of the country, name, share of firms in per mille.
STATES = (
    ("01", "N", "Schleswig-Holstein", 36),
    ("02", "N", "Hamburg", 30),
    ("03", "N", "Niedersachsen", 83),
    ("04", "N", "Bremen", 7),
    ("05", "W", "Nordrhein-Westfalen", 206),
    ("06", "W", "Hessen", 76),
    ("07", "W", "Rheinland-Pfalz", 47),
    ("10", "W", "Saarland", 11),
    ("08", "S", "Baden-Württemberg", 138),
    ("09", "S", "Bayern", 182),
    ("11", "E", "Berlin", 54),
    ("12", "E", "Brandenburg", 30),
    ("13", "E", "Mecklenburg-Vorpommern", 18),
    ("14", "E", "Sachsen", 46),
    ("15", "E", "Sachsen-Anhalt", 20),
    ("16", "E", "Thüringen", 22),
)

#: Classes by number of employees, and where each class but the first begins.
SIZES = ("1-9", "10-49", "50+")
SIZE_BOUNDS = (10, 50)


def nace_tree() -> Hierarchy:
    """Total → 10 sections → 25 divisions."""
    tree = _two_levels(SECTIONS, [row[:3] for row in DIVISIONS])
    return tree.with_labels(NACE_IN_GERMAN, "de")


def region_tree() -> Hierarchy:
    """Total → 4 parts of the country → 16 states."""
    return _two_levels(PARTS, [row[:3] for row in STATES]).with_labels(PARTS_IN_GERMAN, "de")


def size_tree() -> Hierarchy:
    """Total → 3 classes, in the order of size."""
    return Hierarchy(("Total", *SIZES), np.array([-1, 0, 0, 0], dtype=np.int32))


def _two_levels(upper: dict[str, str], lower: Sequence[tuple[str, str, str]]) -> Hierarchy:
    codes, parent, labels = ["Total"], [-1], dict(upper)
    for above, _ in upper.items():
        position = len(codes)
        codes.append(above)
        parent.append(0)
        for code, belongs_to, label in lower:
            if belongs_to == above:
                codes.append(code)
                parent.append(position)
                labels[code] = label
    return Hierarchy(tuple(codes), np.array(parent, dtype=np.int32), labels)
