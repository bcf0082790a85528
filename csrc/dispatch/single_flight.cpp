#include "dispatch/single_flight.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace torchtpu::dispatch {
namespace {

struct Flights {
  std::mutex mutex;
  std::condition_variable landed;
  std::map<std::vector<uint64_t>, std::thread::id> in_the_air;
};

Flights& flights() {
  static auto* instance = new Flights;
  return *instance;
}

}  // namespace

SingleFlight::SingleFlight(const cache::Key& key, const std::function<void(const std::function<void()>&)>& without_gil)
    : words_(key.words().vec()) {
  auto& all = flights();
  {
    std::lock_guard lock(all.mutex);
    auto [flight, inserted] = all.in_the_air.emplace(words_, std::this_thread::get_id());
    owner_ = inserted;
    first_ = inserted || flight->second == std::this_thread::get_id();
  }
  if (first_) return;
  without_gil([&] {
    std::unique_lock lock(all.mutex);
    all.landed.wait(lock, [&] { return all.in_the_air.find(words_) == all.in_the_air.end(); });
  });
}

SingleFlight::~SingleFlight() {
  if (!owner_) return;
  auto& all = flights();
  {
    std::lock_guard lock(all.mutex);
    all.in_the_air.erase(words_);
  }
  all.landed.notify_all();
}

}  // namespace torchtpu::dispatch
