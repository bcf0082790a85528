// The two headers that most units need and that take longest to read (D15): parsed once per build, not once per unit.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>
