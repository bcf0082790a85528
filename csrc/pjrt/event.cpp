#include "pjrt/event.h"

#include <memory>
#include <string>

#include "pjrt/error.h"
#include "pjrt/plugin.h"

namespace torchtpu::pjrt {
namespace {

using Continuation = std::function<void(std::exception_ptr)>;

void check_work(PJRT_Error* error, const char* of) {
  if (!error) return;
  const std::string what = std::string(of ? of : "a computation") + " failed on the device";
  throw_error(error, what.c_str());
}

struct Watcher {
  Continuation then;
  const char* of;
};

void call_back(PJRT_Error* error, void* argument) {
  std::unique_ptr<Watcher> watcher(static_cast<Watcher*>(argument));
  std::exception_ptr failure;
  try {
    check_work(error, watcher->of);
  } catch (const Error&) {
    failure = std::current_exception();
  }
  watcher->then(std::move(failure));
}

}  // namespace

Event::~Event() {
  const PJRT_Api* table = loaded_api();
  if (!raw_ || !table) return;
  TORCHTPU_PJRT_ARGS(PJRT_Event_Destroy_Args, args);
  args.event = raw_;
  ignore(table->PJRT_Event_Destroy(&args));
}

void Event::await() const {
  if (!raw_) return;
  TORCHTPU_PJRT_ARGS(PJRT_Event_Await_Args, args);
  args.event = raw_;
  check_work(api().PJRT_Event_Await(&args), of_);
}

bool Event::is_ready() const {
  if (!raw_) return true;
  TORCHTPU_PJRT_ARGS(PJRT_Event_IsReady_Args, args);
  args.event = raw_;
  check(api().PJRT_Event_IsReady(&args), "torchtpu: cannot query an event");
  return args.is_ready;
}

void Event::on_ready(Continuation then) const {
  if (!raw_) return then(nullptr);
  auto owner = std::make_unique<Watcher>(Watcher{std::move(then), of_});
  TORCHTPU_PJRT_ARGS(PJRT_Event_OnReady_Args, args);
  args.event = raw_;
  args.callback = call_back;
  args.user_arg = owner.get();
  check(api().PJRT_Event_OnReady(&args), "torchtpu: cannot watch an event");
  owner.release();  // call_back's now
}

}  // namespace torchtpu::pjrt
