"""Random numbers, from the key that is given and from one that is not."""

import jax


def uniform(key, self, from_, to):
    return jax.random.uniform(key, self.shape, self.dtype, from_, to)


def uniform_forever(key, self, from_, to):
    return _draw(self)


def _draw(self):
    return jax.random.uniform(jax.random.PRNGKey(0), self.shape, self.dtype)
