"""Workbooks in the layout of the office: a template is copied and filled."""

from diskret.publish.formats.template.fill import fill_template, template_texts

__all__ = ["fill_template", "template_texts"]
