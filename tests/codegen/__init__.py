"""The generator: rules, derivation, output, command line; on a small spec with lowerings and headers of its own."""
