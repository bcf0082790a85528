// A compiled program and what the hit path has to know to run it. Everything here was decided on the miss path.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cache/compilation.h"
#include "cache/operand_cache.h"
#include "runtime/device_buffer.h"
#include "views/plan.h"

namespace torchtpu::cache {

// Tensor arguments are numbered in the order in which the call meets them ("uses"), and so are traced numbers.

// How a traced number travels in the operand buffer.
enum class Format : uint8_t { F32, F64, S32, S64, C64, C128 };

struct Number {
  uint16_t index;
  Format format;
};

// A use that is not simply its whole base.
struct View {
  uint16_t use;
  views::Plan plan;
  bool wide;  // starts take two words: the base has 2^31 elements or more
};

struct Operand {
  uint16_t use;
  bool donated;
};

// One output of the executable, in its order.
struct Output {
  enum class Kind : uint8_t { New, Count, Store, Error };
  Kind kind;
  uint16_t use = 0;  // Store: becomes the value of this use's storage
  uint16_t cut = 0, axis = 0;  // Count: how much of this other output is valid along the axis
  size_t nbytes = 0;
  runtime::Sizes sizes = {}, strides = {};  // New: of the tensor
  runtime::Base base = {};                  // New: of its storage
};

// One return of the schema.
struct Result {
  enum class Kind : uint8_t { Output, Argument, Undefined, Integer, List };
  Kind kind;
  int64_t value = 0;  // Output: index among the outputs; Argument: position in the schema; Integer: itself
  std::vector<Result> items = {};
};

// A written argument that must first be given other sizes, as PyTorch does with out=.
struct Resize {
  uint16_t use;
  runtime::Sizes sizes, strides;
};

// What stands in place of a program for a call that is not run as it is.
struct Redirect {
  // The call has to be keyed again, after resizing or with these uses read by gather.
  std::vector<Resize> resizes = {};
  std::vector<uint16_t> gathers = {};
  // Its entry leaves dtypes such as these to the CPU: why.
  std::string cpu = {};
};

struct Program {
  std::unique_ptr<Redirect> redirect;  // null, unless it stands here in place of everything else
  std::shared_ptr<Compilation> compilation;
  // A program that could not be compiled, or was unloaded, serves nobody: the next call compiles anew.
  bool gone() const { return compilation && !compilation->ready() && compilation->gone(); }
  std::string origin;  // file:line of the Python that first called it
  // The operand buffer, when there is one, is the first argument. Its u32 words: seed and offset (4, if seeded), the numbers,
  // then the starts of the views.
  bool has_words = false;
  bool seeded = false;
  std::vector<Number> numbers;
  std::vector<View> views;
  std::unique_ptr<LastOperands> last_operands = std::make_unique<LastOperands>();
  std::vector<Operand> operands;
  std::vector<Output> outputs;
  std::vector<Result> results;
  bool reads(uint16_t use) const {
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) { return operand.use == use; });
  }
  bool data_sizes = false;  // what is in the tensors decides the sizes of outputs
  // Written arguments that change their sizes only afterwards, as (output, use) to resize and copy: every out= with data_sizes,
  // and self where it grows by broadcasting.
  std::vector<std::pair<uint16_t, uint16_t>> copies;
};

}  // namespace torchtpu::cache
