#include "pjrt/event.h"

#include "pjrt/error.h"
#include "pjrt/plugin.h"

namespace torchtpu::pjrt {

Event::~Event() {
  const PJRT_Api* table = loaded_api();
  if (!raw_ || !table) return;
  TORCHTPU_PJRT_ARGS(PJRT_Event_Destroy_Args, args);
  args.event = raw_;
  ignore(table->PJRT_Event_Destroy(&args));
}

void Event::await(const char* what) const {
  if (!raw_) return;
  TORCHTPU_PJRT_ARGS(PJRT_Event_Await_Args, args);
  args.event = raw_;
  check(api().PJRT_Event_Await(&args), what);
}

bool Event::is_ready() const {
  if (!raw_) return true;
  TORCHTPU_PJRT_ARGS(PJRT_Event_IsReady_Args, args);
  args.event = raw_;
  check(api().PJRT_Event_IsReady(&args), "torchtpu: cannot query an event");
  return args.is_ready;
}

}  // namespace torchtpu::pjrt
