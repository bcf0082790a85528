// One miss at a time per key: whoever comes second waits for the first and finds its program.
#pragma once

#include <functional>
#include <vector>

#include "cache/key.h"

namespace torchtpu::dispatch {

class SingleFlight {
 public:
  // Waits, by way of `without_gil`, while another thread is at this key. A thread does not wait for itself.
  SingleFlight(const cache::Key& key, const std::function<void(const std::function<void()>&)>& without_gil);
  ~SingleFlight();
  SingleFlight(const SingleFlight&) = delete;

  // False after waiting: the program is there now, unless the first one failed.
  bool is_first() const { return first_; }

 private:
  std::vector<uint64_t> words_;
  bool first_ = false, owner_ = false;
};

}  // namespace torchtpu::dispatch
