# What stands in golden/ is expected output, tests of ops among it; it is compared, not run.
collect_ignore = ["golden"]
