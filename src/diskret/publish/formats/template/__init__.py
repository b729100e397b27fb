"""Workbooks in the layout of the office: a template is copied and filled."""
