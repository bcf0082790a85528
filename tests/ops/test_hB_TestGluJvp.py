from tests.ops.harness import OpTest

class TestGluJvp(OpTest):
    entry = "glu_jvp"
    aten = "glu_jvp"
    overloads = ("glu_jvp", "glu_jvp.out")


