#include "python/raw_execute.h"

#include <chrono>

#include "pjrt/client.h"

namespace torchtpu::python {
namespace {

pjrt::BufferRef ones(const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (int64_t size : shape) count *= static_cast<size_t>(size);
  const std::vector<float> values(count, 1.0f);
  return pjrt::BufferRef(pjrt::Client::get().from_host(values.data(), count * sizeof(float), PJRT_Buffer_Type_F32,
                                                       shape.data(), shape.size(), 0, pjrt::Holder::Runtime));
}

int64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

RawProgram::RawProgram(std::string_view program, std::string_view options,
                       const std::vector<std::vector<int64_t>>& shapes)
    : executable_(pjrt::Client::get().compile(program, options)), raw_outputs_(executable_->num_outputs()) {
  for (const auto& shape : shapes) {
    arguments_.push_back(ones(shape));
    raw_arguments_.push_back(arguments_.back()->raw());
  }
}

void RawProgram::call(bool chain) {
  executable_->execute(pjrt::Client::get().device(0), raw_arguments_.data(), raw_arguments_.size(), nullptr, 0,
                       raw_outputs_.data());
  if (chain) {
    arguments_[0] = pjrt::BufferRef(new pjrt::Buffer(raw_outputs_[0], 0, 0, pjrt::Holder::Runtime));
    raw_arguments_[0] = raw_outputs_[0];
  }
  for (size_t i = chain; i < raw_outputs_.size(); ++i) pjrt::Buffer(raw_outputs_[i], 0, 0, pjrt::Holder::Runtime);
}

int64_t RawProgram::time(size_t calls, bool chain) {
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < calls; ++i) call(chain);
  return nanoseconds_since(start);
}

int64_t time_awaits(size_t calls) {
  const auto number = ones({});
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < calls; ++i) {
    float value;
    number->to_host(&value, sizeof(value));
  }
  return nanoseconds_since(start);
}

}  // namespace torchtpu::python
