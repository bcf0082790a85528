"""A kernel, its predicate, and a kernel that does not take what it is tuned by."""


def tiled(self, mat2, block):
    raise NotImplementedError("only its name and parameters matter")


def applies(self, mat2):
    return self.shape[0] % 128 == 0


def untuned(self, mat2):
    raise NotImplementedError("only its name and parameters matter")
