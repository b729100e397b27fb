"""Make a workbook in the layout of an office, and fill it with two protected tables.

Usage: python examples/workbook_template.py [FOLDER] [LANGUAGE]
"""

import sys
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

import diskret as dk

BLUE = PatternFill("solid", fgColor="1F4E79")
PALE = PatternFill("solid", fgColor="DDEBF7")
THIN = Side(style="thin", color="9DB2C9")
WORDS = {
    "en": {
        "sheet": "Table 1",
        "industry": "Industry",
        "region": "Part of the country",
        "key": "Key figures",
        "firms": "Firms",
        "turnover": "Turnover in 1,000 euros",
        "source": "Source: artificial business register. Turnover in 1,000 euros.",
        "symbols": "Explanation of symbols",
    },
    "de": {
        "sheet": "Tabelle 1",
        "industry": "Wirtschaftszweig",
        "region": "Landesteil",
        "key": "Eckzahlen",
        "firms": "Unternehmen",
        "turnover": "Umsatz in 1.000 Euro",
        "source": "Quelle: künstliches Unternehmensregister. Umsatz in 1.000 Euro.",
        "symbols": "Zeichenerklärung",
    },
}
PARTS = ("N", "W", "S", "E")
SECTIONS = ("B", "C", "08", "10", "28", "29", "D", "F", "G", "H", "J")


def make_template(path: Path, language: str = "en") -> None:
    """A sheet with a table in two merged headings, and one with key figures and symbols."""
    words = WORDS[language]
    book = Workbook()
    sheet = book.active
    sheet.title = words["sheet"]
    sheet.merge_cells("A1:F1")
    sheet["A1"] = "1  {{turnover: title}}"
    sheet["A1"].font = Font(name="Arial", size=14, bold=True, color="1F4E79")
    sheet.merge_cells("A3:A4")
    sheet.merge_cells("B3:F3")
    # the marker stands in the corner, beside the heading that stays
    sheet["A3"] = words["industry"] + " {{turnover: rows=nace; columns=region}}"
    sheet["B3"] = words["region"]
    for column, code in enumerate(("Total", *PARTS), start=2):
        sheet.cell(4, column, f"{{{{label: region={code}}}}}")
    for row in sheet["A3:F4"]:
        for cell in row:
            cell.fill = BLUE
            cell.font = Font(name="Arial", bold=True, color="FFFFFF")
            cell.alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
    for row, code in enumerate(("Total", *SECTIONS), start=5):
        bold = not code.isdigit()
        sheet.cell(row, 1, f"{{{{label: nace={code}}}}}")
        for column in range(1, 7):
            cell = sheet.cell(row, column)
            cell.font = Font(name="Arial", bold=bold)
            cell.border = Border(bottom=THIN)
            cell.number_format = "#,##0," if column > 1 else "General"
        sheet.cell(row, 1).alignment = Alignment(horizontal="left", indent=0 if bold else 1)
        if code == "Total":
            for cell in sheet[row][:6]:
                cell.fill = PALE
    last = 7 + len(SECTIONS)  # an empty row ends the block
    sheet.cell(last, 1, words["source"]).font = Font(name="Arial", size=8, italic=True)
    sheet.cell(last + 1, 1, "{{legend}}").font = Font(name="Arial", size=8, italic=True)
    sheet.column_dimensions["A"].width = 44
    for name in "BCDEF":
        sheet.column_dimensions[name].width = 14
    sheet.freeze_panes = "B5"
    sheet.print_area = f"A1:F{last + 1}"
    sheet.print_title_rows = "3:4"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = 9
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.page_setup.fitToHeight = 0
    sheet.oddFooter.right.text = "&P / &N"

    key = book.create_sheet(words["key"])
    key["A1"] = words["key"]
    key["A1"].font = Font(name="Arial", size=14, bold=True, color="1F4E79")
    key["B3"], key["C3"] = words["firms"], words["turnover"]
    for row, code in enumerate(("Total", *PARTS), start=4):
        key.cell(row, 1, f"{{{{label: region={code}}}}}")
        key.cell(row, 2, f"{{{{firms: region={code}}}}}").number_format = "#,##0"
        key.cell(row, 3, f"{{{{turnover: region={code}}}}}").number_format = "#,##0,"
        for cell in key[row]:
            cell.font = Font(name="Arial", bold=code == "Total")
    key["A10"] = words["symbols"]
    for cell in (key["A10"], key["B3"], key["C3"]):
        cell.font = Font(name="Arial", bold=True)
        cell.alignment = Alignment(horizontal="left" if cell.column == 1 else "right")
    key["A11"] = "{{legend}}"
    key["A11"].font = Font(name="Arial", size=8)
    key["A11"].alignment = Alignment(wrap_text=True, vertical="top")
    key.row_dimensions[11].height = 32
    key.column_dimensions["A"].width = 44
    key.column_dimensions["B"].width = key.column_dimensions["C"].width = 24
    key.sheet_properties.pageSetUpPr.fitToPage = True
    key.page_setup.paperSize = 9
    book.save(path)


def main(folder: Path, language: str = "en") -> None:
    """Write the template beside the folder, and the release into it."""
    template = folder.with_name(f"layout-{language}.xlsx")
    make_template(template, language)
    register = dk.datasets.business_register(n=5_000, seed=1)
    table = dk.tabulate(
        register.records,
        by={"nace": register.nace, "region": register.region},
        value="turnover",
        unit="firm_id",
    )
    rule = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)
    title = {"en": "Turnover of firms", "de": "Umsatz der Unternehmen"}[language]
    # two tables in one workbook are written with the function behind `Result.write`

    results = [
        dk.suppress(table, rule, name="turnover"),
        dk.suppress(table["count"], dk.rules.MinimumFrequency(3), name="firms"),
    ]
    titles = {"turnover": title}
    dk.write(results, folder, ["csv"], language=language, titles=titles, template=template)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"), *sys.argv[2:3])
