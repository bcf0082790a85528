"""The generator: rules, derivation, output, command line. A small spec of its own, with lowerings and headers of its own."""
