// The threads on which autograd runs backward passes.
#pragma once

namespace torchtpu::runtime {

// Blocks until autograd's threads are done with the backward passes that have returned, for 10 s at most. Not to be called with the GIL.
void await_backward_threads();

}  // namespace torchtpu::runtime
