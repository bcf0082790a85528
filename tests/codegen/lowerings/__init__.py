"""Families for the specs of these tests, right and wrong on purpose."""
