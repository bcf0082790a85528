#include "dispatch/execute.h"

#include <ATen/native/Resize.h>
#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/narrow.h>

#include "dispatch/miss.h"
#include "dispatch/number.h"
#include "dispatch/run_ahead.h"
#include "pjrt/client.h"
#include "runtime/device.h"
#include "runtime/eager_mode.h"
#include "runtime/errors.h"
#include "runtime/generator.h"
#include "runtime/memory.h"
#include "runtime/storage.h"

namespace torchtpu::dispatch {
namespace {

using runtime::buffer_of;

// A program that makes nothing draws nothing, so that any generator will do: so torch has it.
bool makes_nothing(const cache::Program& program) {
  for (const auto& output : program.outputs) {
    if (output.nbytes) return false;
  }
  return true;
}

runtime::GeneratorImpl::Draw draw(const Call& call, const cache::Program& program, c10::DeviceIndex device) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.spec.args[i].role != Role::Generator || call.args[i].isNone()) continue;
    auto generator = call.args[i].toGenerator();
    if (generator.device().type() != c10::DeviceType::PrivateUse1 && makes_nothing(program)) break;
    TORCH_CHECK(generator.device().type() == c10::DeviceType::PrivateUse1, "Expected a 'tpu' device type for generator but found '",
                generator.device().type(), "'");
    return generator.get<runtime::GeneratorImpl>()->draw();
  }
  return runtime::default_generator(device).get<runtime::GeneratorImpl>()->draw();
}

pjrt::BufferRef operand_words(const Call& call, const cache::Program& program, const Starts& starts,
                              c10::DeviceIndex device) {
  cache::Words words;
  if (program.seeded) {
    auto [seed, offset] = draw(call, program, device);
    append_word64(words, seed);
    append_word64(words, offset);
  }
  for (auto [index, format] : program.numbers) append_number(words, call.numbers[index], format);
  size_t next = 0;
  for (const auto& view : program.views) {
    for (size_t i = view.plan.num_starts(); i-- > 0; ++next) {
      if (view.wide) {
        append_word64(words, static_cast<uint64_t>(starts[next]));
      } else {
        words.push_back(static_cast<uint32_t>(starts[next]));
      }
    }
  }
  return program.seeded ? cache::upload_words(words, device) : cache::operand_buffer(words, device, *program.last_operands);
}

std::string lost(const char* overload, const char* reason) {
  return c10::str("torchtpu: the data of this tensor was lost when ", overload, " failed after its buffer had been donated: ",
                  reason);
}

// The buffers of one execution: referenced until it is issued, and given back to their storages if it fails.
class Operands {
 public:
  Operands(const Call& call, const cache::Program& program) : call_(call), program_(program) {}

  void add(pjrt::BufferRef buffer) {
    bytes_ += buffer->bytes();
    raw_.push_back(buffer->raw());
    held_.push_back(std::move(buffer));
  }

  void add_storages() {
    for (auto [use, donated] : program_.operands) {
      auto& handle = *call_.uses[use].buffer;
      auto buffer = donated ? handle.take() : handle.load();
      // Someone else holds the value, a clone or another thread: it must survive this program.
      if (donated) (buffer.unique() ? given_ : kept_).push_back(static_cast<int64_t>(raw_.size()));
      add(std::move(buffer));
    }
  }

  void execute(PJRT_Device* device, PJRT_Buffer** outputs) {
    program_.compilation->ready()->execute(device, raw_.data(), raw_.size(), kept_.data(), kept_.size(), outputs);
    for (int64_t donated : given_) held_[donated]->give_away();
  }

  size_t bytes() const { return bytes_; }

  void restore(const char* reason) {
    size_t position = program_.has_words;
    for (auto [use, donated] : program_.operands) {
      if (position == held_.size()) return;
      auto& buffer = held_[position++];
      if (!donated) continue;
      auto& handle = *call_.uses[use].buffer;
      if (buffer->is_deleted()) {
        handle.fail(std::make_shared<runtime::Failure>(lost(call_.spec.overload, reason)));
      } else {
        handle.store(std::move(buffer));
      }
    }
  }

 private:
  const Call& call_;
  const cache::Program& program_;
  c10::SmallVector<pjrt::BufferRef, 8> held_;
  c10::SmallVector<PJRT_Buffer*, 8> raw_;
  size_t bytes_ = 0;
  c10::SmallVector<int64_t, 4> kept_, given_;  // positions of the operands that the program would donate, and may not or may
};

int32_t read_word(const pjrt::Buffer& buffer) {
  int32_t word = 0;
  if (pjrt::Client::get().host_can_read()) {
    buffer.await();
    std::memcpy(&word, buffer.device_pointer(), sizeof word);
  } else {
    buffer.to_host(&word, sizeof word);
  }
  return word;
}

using Tensors = c10::SmallVector<at::Tensor, 4>;

// An output whose size the data decides: its first part along the axis.
at::Tensor cut(const at::Tensor& padded, int64_t axis, int64_t count) {
  if (padded.size(axis) == count) return padded;
  auto rows = at::narrow(padded, axis, 0, count);
  auto order = at::infer_dense_strides(rows.sizes(), rows.strides());
  return at::empty_strided(rows.sizes(), order, rows.options()).copy_(rows);
}

c10::IValue to_ivalue(const cache::Result& result, const Call& call, const Tensors& tensors) {
  switch (result.kind) {
    case cache::Result::Kind::Output: return tensors[result.value];
    case cache::Result::Kind::Argument: return call.args[result.value];
    case cache::Result::Kind::Undefined: return at::Tensor();
    case cache::Result::Kind::Integer: return result.value;
    case cache::Result::Kind::List: break;
  }
  c10::List<at::Tensor> list;
  list.reserve(result.items.size());
  for (const auto& item : result.items) list.push_back(tensors[item.value]);
  return list;
}

void return_results(const Call& call, const cache::Program& program, const Tensors& tensors, torch::jit::Stack* stack) {
  c10::SmallVector<c10::IValue, 4> results;
  for (const auto& result : program.results) results.push_back(to_ivalue(result, call, tensors));
  torch::jit::drop(*stack, call.args.size());
  for (auto& result : results) stack->push_back(std::move(result));
}

// In debug mode a call ends when it has happened, and what failed is that call.
void await_outputs(const c10::SmallVectorImpl<pjrt::BufferRef>& buffers, Operands& operands, const char* overload,
                   c10::DeviceIndex device) {
  try {
    for (const auto& buffer : buffers) buffer->await();
  } catch (const pjrt::Error& error) {
    operands.restore(error.what());
    runtime::raise(error, overload, device);
  }
}

// Whether the call itself needs what its program computes: whether it may return, and with which sizes.
bool reads_its_outputs(const cache::Program& program) {
  if (!program.copies.empty()) return true;
  for (const auto& output : program.outputs) {
    if (output.kind == cache::Output::Kind::Error || output.kind == cache::Output::Kind::Count) return true;
  }
  return false;
}

// Whether the outputs would fit into what the device has free. What would not has to fail in the call itself.
bool fits(const cache::Program& program, c10::DeviceIndex device) {
  int64_t needed = runtime::bytes_in_use(device);
  for (const auto& output : program.outputs) needed += static_cast<int64_t>(output.nbytes);
  return needed <= runtime::memory_size(device);
}

// Queues the execution; its results are pending.
void execute_later(const Call& call, const cache::Program& program, cache::Pin pin, const Starts& starts, c10::DeviceIndex device,
                   torch::jit::Stack* stack) {
  Execution execution{&program, std::move(pin), call.spec.overload, device, {}, {}};
  if (program.has_words) execution.operands.push_back({{operand_words(call, program, starts, device), {}}, false});
  for (auto [use, donated] : program.operands) {
    execution.operands.push_back({call.uses[use].buffer->capture(), donated});
  }
  Tensors tensors(program.outputs.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& output = program.outputs[i];
    auto pending = c10::make_intrusive<runtime::Pending>();
    execution.outputs.push_back({pending, {}});
    if (output.kind == cache::Output::Kind::Store) {
      auto& handle = *call.uses[output.use].buffer;
      if (!program.reads(output.use)) execution.outputs.back().before = handle.peek();
      handle.store(std::move(pending));
    } else {
      tensors[i] = runtime::make_tensor(output.sizes, output.strides, output.base, device, {});
      buffer_of(tensors[i]).store(std::move(pending));
    }
  }
  RunAhead::get().push(std::move(execution));
  return_results(call, program, tensors, stack);
}

}  // namespace

bool outlasts_its_results(size_t operand_bytes) {
  // On a TPU, a program may have to wait for others, however small it is itself.
  return operand_bytes >= pjrt::Buffer::kTrackedBytes || !pjrt::Client::get().host_can_read();
}

bool find_starts(Call& call, const cache::Program& program, Starts& starts) {
  starts.clear();
  for (const auto& view : program.views) {
    int64_t offset = call.uses[view.use].tensor->storage_offset();
    if (!view.plan.starts(offset, starts)) {
      call.choose_gather(view.use);
      return false;
    }
  }
  return true;
}

void execute(const Call& call, const cache::Program& program, cache::Pin pin, const Starts& starts, torch::jit::Stack* stack) {
  auto device = call.device < 0 ? runtime::current_device() : call.device;
  auto& ahead = RunAhead::get();
  bool waits = runtime::waits_for_each_op.load(std::memory_order_relaxed);
  if (C10_UNLIKELY(ahead.active() || !program.compilation->ready())) {
    if (!waits && !reads_its_outputs(program) && fits(program, device)) return execute_later(call, program, std::move(pin), starts, device, stack);
    ahead.drain();
    runtime::guarded(call.spec.overload, [&] { program.compilation->wait(); });
  }
  size_t num_outputs = program.outputs.size();
  c10::SmallVector<PJRT_Buffer*, 8> raw_outputs(num_outputs);
  Operands operands(call, program);
  try {
    if (program.has_words) operands.add(operand_words(call, program, starts, device));
    operands.add_storages();
    operands.execute(pjrt::Client::get().device(static_cast<size_t>(device)), raw_outputs.data());
  } catch (const pjrt::Error& error) {
    operands.restore(error.what());
    runtime::raise(error, call.spec.overload, device);
  } catch (const std::exception& error) {
    operands.restore(error.what());
    throw;
  }

  bool tracked = outlasts_its_results(operands.bytes());
  c10::SmallVector<pjrt::BufferRef, 8> buffers;
  for (size_t i = 0; i < num_outputs; ++i) {
    const auto& output = program.outputs[i];
    bool for_us = output.kind == cache::Output::Kind::Error || output.kind == cache::Output::Kind::Count;
    auto holder = for_us ? pjrt::Holder::Runtime : pjrt::Holder::Tensor;
    buffers.emplace_back(new pjrt::Buffer(raw_outputs[i], output.nbytes, static_cast<size_t>(device), holder));
    buffers.back()->made_by(call.spec.overload);
    if (tracked) buffers.back()->track();
  }
  if (C10_UNLIKELY(waits)) await_outputs(buffers, operands, call.spec.overload, device);

  Tensors tensors(num_outputs);
  c10::SmallVector<std::pair<const cache::Output*, pjrt::BufferRef>, 2> counts;
  bool failed = false;
  for (size_t i = 0; i < num_outputs; ++i) {
    const auto& output = program.outputs[i];
    auto& buffer = buffers[i];
    switch (output.kind) {
      case cache::Output::Kind::New:
        tensors[i] = runtime::make_tensor(output.sizes, output.strides, output.base, device, std::move(buffer));
        break;
      case cache::Output::Kind::Count: counts.emplace_back(&output, std::move(buffer)); break;
      case cache::Output::Kind::Store: call.uses[output.use].buffer->store(std::move(buffer)); break;
      case cache::Output::Kind::Error:
        failed = runtime::guarded(call.spec.overload, device, [&] { return read_word(*buffer.get()); }) != 0;
        break;
    }
  }
  if (failed) {
    second_look(call.spec, call.args);
    TORCH_CHECK(false, "torchtpu: ", call.spec.overload,
                ": the program found an index out of range or a division by zero, yet the same call succeeds on the CPU; "
                "please report this with the arguments");
  }
  for (const auto& [count, buffer] : counts) {
    tensors[count->cut] = cut(tensors[count->cut], count->axis, read_word(*buffer.get()));
  }
  for (const auto& [output, use] : program.copies) {
    const at::Tensor& written = *call.uses[use].tensor;
    if (program.data_sizes) at::native::resize_output_check(written, tensors[output].sizes());
    written.resize_(tensors[output].sizes());
    written.copy_(tensors[output]);
  }

  return_results(call, program, tensors, stack);
}

}  // namespace torchtpu::dispatch
