"""The form of ops.yaml: its fields, its model, its loader."""
