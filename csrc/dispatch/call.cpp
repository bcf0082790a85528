#include "dispatch/call.h"

#include <ATen/Context.h>
#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "runtime/device.h"
#include "runtime/storage.h"
#include "runtime/value_checks.h"

namespace torchtpu::dispatch {
namespace {

// What a word of the key is about; the low byte of each header.
enum class Tag : uint64_t {
  None = 1, Tensor, CpuNumber, Number, Specialized, List, Int, LongInt, Double, Bool, Complex, String, Device
};

uint64_t header(Tag tag, uint64_t payload = 0) { return static_cast<uint64_t>(tag) | payload << 8; }

// The bits of a tensor's header above dtype (8), dimensions (8) and storage (16); the last 16 say which one is the same tensor.
constexpr uint64_t kWritten = 1ull << 40, kWhole = 1ull << 41, kGather = 1ull << 42, kConj = 1ull << 43, kNeg = 1ull << 44,
                   kWrapped = 1ull << 45;
constexpr int kSameShift = 48 - 8;  // of header()'s payload

// The global state that changes what an op computes.
uint64_t global_state(bool matmul_precision) {
  auto& context = at::globalContext();
  uint64_t word = static_cast<uint64_t>(c10::typeMetaToScalarType(c10::get_default_dtype()));
  word |= static_cast<uint64_t>(context.deterministicAlgorithms()) << 8;
  word |= static_cast<uint64_t>(runtime::checks_values.load(std::memory_order_relaxed)) << 9;
  if (matmul_precision) word |= (static_cast<uint64_t>(context.float32MatmulPrecision()) + 1) << 16;
  return word;
}

// An integer that 32 bits do not hold travels in 64, and so selects another program.
Tag number_type(const c10::IValue& number) {
  if (number.isInt()) return number.toInt() == static_cast<int32_t>(number.toInt()) ? Tag::Int : Tag::LongInt;
  if (number.isUnsigned()) return Tag::LongInt;
  if (number.isBool()) return Tag::Bool;
  return number.isDouble() ? Tag::Double : Tag::Complex;
}

double as_double(const c10::IValue& number) {
  if (number.isInt()) return static_cast<double>(number.toInt());
  if (number.isUnsigned()) return static_cast<double>(number.toUInt());
  if (number.isBool()) return number.toBool();
  return number.toDouble();
}

bool came_by_generator(c10::ArrayRef<c10::IValue> args) {
  bool generator = false;
  for (const c10::IValue& arg : args) {
    if (arg.isTensor() && arg.toTensor().is_privateuseone()) return false;
    generator |= arg.isGenerator();
  }
  return generator;
}

}  // namespace

double largest(const c10::IValue& numbers) {
  double result = 0;
  for (const c10::IValue& number : numbers.toListRef()) result = std::max(result, as_double(number));
  return result;
}

Call::Call(const OpSpec& spec_, c10::ArrayRef<c10::IValue> args_) : spec(spec_), args(args_) {
  key.push(reinterpret_cast<uintptr_t>(&spec));
  key.push(global_state(spec.matmul_precision));
  for (size_t i = 0; i < args.size(); ++i) add(spec.args[i], args[i]);
  for (KeySize size : spec.key_sizes) key.push(static_cast<uint64_t>(size(args)));
}

void Call::add(const ArgSpec& arg_spec, const c10::IValue& arg) {
  if (arg_spec.role == Role::Generator) return;
  if (arg_spec.role == Role::Ignored) {
    if (arg.isDevice()) device = runtime::resolve_device(arg.toDevice().index());  // of a factory function
    return;
  }
  if (arg.isTensor()) {
    const at::Tensor& tensor = arg.toTensor();
    if (tensor.defined()) {
      add_tensor(tensor, arg_spec.role == Role::Write);
    } else {
      key.push(header(Tag::None));
    }
  } else if (arg.isNone()) {
    key.push(header(Tag::None));
  } else if (arg.isList()) {
    auto items = arg.toListRef();
    key.push(header(Tag::List, items.size()));
    if (arg_spec.role == Role::Write) writes_list_ = true;
    for (const c10::IValue& item : items) add(arg_spec, item);
  } else if (arg_spec.role == Role::Traced) {
    add_number(arg_spec, arg);
  } else {
    add_static(arg);
  }
}

void Call::add_tensor(const at::Tensor& tensor, bool written) {
  auto* impl = tensor.unsafeGetTensorImpl();
  auto dtype = static_cast<uint64_t>(c10::typeMetaToScalarType(tensor.dtype()));
  bool wrapped = impl->is_wrapped_number();
  if (!tensor.is_privateuseone()) {
    if (C10_UNLIKELY(tensor.dim() != 0 || written) && came_by_generator(args)) throw BelongsToTheCpu();
    TORCH_CHECK(tensor.is_cpu() && tensor.dim() == 0 && !written,
                "Expected all tensors to be on the same device, but found at least two devices, tpu:",
                static_cast<int>(device < 0 ? 0 : device), " and ", tensor.device(), "!");
    key.push(header(Tag::CpuNumber, dtype | static_cast<uint64_t>(wrapped) << 8));
    numbers.push_back({nullptr, &tensor, false});
    return;
  }
  auto& buffer = runtime::buffer_of(tensor);
  TORCH_CHECK(device == -1 || device == buffer.device(),
              "Expected all tensors to be on the same device, but found at least two devices, tpu:",
              static_cast<int>(device), " and tpu:", static_cast<int>(buffer.device()), "!");
  device = buffer.device();

  auto position = static_cast<uint16_t>(uses.size());
  uint16_t storage = position, same = position;
  for (uint16_t i = 0; i < position; ++i) {
    if (uses[i].buffer != &buffer) continue;
    if (storage == position) storage = i;
    if ((written || uses[i].written) && uses[i].tensor->unsafeGetTensorImpl() == impl) {
      same = i;
      break;
    }
  }
  const auto& base = buffer.base();
  auto sizes = tensor.sizes();
  bool whole = tensor.is_contiguous() && sizes.equals(base.sizes) && static_cast<uint64_t>(base.dtype) == dtype;
  auto keys = impl->key_set();
  bool conj = keys.has(c10::DispatchKey::Conjugate), neg = keys.has(c10::DispatchKey::Negative);
  uses.push_back({&tensor, &buffer, static_cast<uint32_t>(key.size()), storage, same, written, whole, false});
  uint64_t twin = same == position ? 0 : same + 1;
  key.push(header(Tag::Tensor, dtype | sizes.size() << 8 | static_cast<uint64_t>(storage) << 16 | twin << kSameShift) |
           (written ? kWritten : 0) | (whole ? kWhole : 0) | (conj ? kConj : 0) | (neg ? kNeg : 0) |
           (wrapped ? kWrapped : 0));
  key.push(sizes);
  if (!whole) {
    key.push(tensor.strides());
    key.push(static_cast<uint64_t>(base.dtype) | static_cast<uint64_t>(base.sizes.size()) << 8);
    key.push(base.sizes);
  }
}

void Call::add_number(const ArgSpec& arg_spec, const c10::IValue& number) {
  auto type = header(number_type(number));
  bool specialized = false;
  if (!arg_spec.specialize.empty() && !number.isComplexDouble()) {
    double value = as_double(number);
    for (double candidate : arg_spec.specialize) specialized = specialized || value == candidate;
  }
  if (specialized) {
    key.push(header(Tag::Specialized, type));
    key.push(std::bit_cast<uint64_t>(as_double(number)));
  } else {
    key.push(header(Tag::Number, type));
  }
  numbers.push_back({&number, nullptr, specialized});
}

void Call::add_static(const c10::IValue& value) {
  if (value.isInt()) {
    key.push(header(Tag::Int));
    key.push(static_cast<uint64_t>(value.toInt()));
  } else if (value.isBool()) {
    key.push(header(Tag::Bool, value.toBool()));
  } else if (value.isDouble()) {
    key.push(header(Tag::Double));
    key.push(std::bit_cast<uint64_t>(value.toDouble()));
  } else if (value.isComplexDouble()) {
    auto number = value.toComplexDouble();
    key.push(header(Tag::Complex));
    key.push(std::bit_cast<uint64_t>(number.real()));
    key.push(std::bit_cast<uint64_t>(number.imag()));
  } else if (value.isString()) {
    auto text = value.toStringView();
    key.push(header(Tag::String, text.size()));
    for (size_t i = 0; i < text.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
      key.push(word);
    }
  } else if (value.isDevice()) {
    auto device_value = value.toDevice();
    key.push(header(Tag::Device, static_cast<uint64_t>(device_value.type()) |
                                     static_cast<uint64_t>(static_cast<uint8_t>(device_value.index())) << 8));
  } else {
    TORCH_INTERNAL_ASSERT(false, "torchtpu: ", spec.overload, ": an argument of type ", value.tagKind(),
                          " cannot be part of a key; its role in the generated table is wrong");
  }
}

void Call::choose_gather(size_t use) {
  uses[use].gather = true;
  key[uses[use].header] |= kGather;
}

bool Call::writes_in_order() const {
  if (C10_LIKELY(!writes_list_)) return false;
  bool shared = false;
  for (size_t i = 0; i < uses.size(); ++i) shared = shared || uses[i].storage != i;
  if (C10_LIKELY(!shared)) return false;
  // Parameters may be slices of one flat buffer: these do not meet, and are many.
  struct Range {
    uint16_t storage;
    int64_t begin, end;
    bool written;
  };
  std::vector<Range> ranges;
  for (const Use& use : uses) {
    const at::Tensor& tensor = *use.tensor;
    if (tensor.numel() == 0) continue;
    int64_t last = 0;
    for (int64_t dim = 0; dim < tensor.dim(); ++dim) last += (tensor.size(dim) - 1) * tensor.stride(dim);
    int64_t begin = tensor.storage_offset(), itemsize = static_cast<int64_t>(tensor.itemsize());
    ranges.push_back({use.storage, begin * itemsize, (begin + last + 1) * itemsize, use.written});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::tie(a.storage, a.begin) < std::tie(b.storage, b.begin);
  });
  // The furthest end so far, of what is written and of everything.
  int64_t written_end = 0, end = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    if (i == 0 || ranges[i - 1].storage != range.storage) written_end = end = 0;
    if (range.begin < (range.written ? end : written_end)) return true;
    end = std::max(end, range.end);
    if (range.written) written_end = std::max(written_end, range.end);
  }
  return false;
}

bool Call::overlaps() const {
  for (const Use& written : uses) {
    if (!written.written) continue;
    if (!written.whole && at::has_internal_overlap(*written.tensor) == at::MemOverlap::Yes) return true;
    for (const Use& other : uses) {
      if (&other == &written || other.buffer != written.buffer || (other.whole && written.whole)) continue;
      if (at::get_overlap_status(*written.tensor, *other.tensor) == at::MemOverlapStatus::Partial) return true;
    }
  }
  return false;
}

}  // namespace torchtpu::dispatch
