// A line on standard error while something takes long, on a terminal only.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "cli.h"

namespace frazil::cli {

struct Progress::State {
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  bool shown = false;
  std::thread thread;
};

Progress::Progress(const Session& session, std::string what) {
  if (!session.progress || session.json) return;
  state_ = std::make_unique<State>();
  state_->thread = std::thread([state = state_.get(), what = std::move(what)] {
    std::unique_lock lock(state->mutex);
    for (int seconds = 1;; ++seconds) {
      if (state->wake.wait_for(lock, std::chrono::seconds(1), [&] { return state->done; })) return;
      state->shown = true;
      Say("\r{} ... {} s", what, seconds);
      std::fflush(stderr);
    }
  });
}

Progress::~Progress() {
  if (!state_) return;
  {
    std::lock_guard lock(state_->mutex);
    state_->done = true;
  }
  state_->wake.notify_all();
  state_->thread.join();
  if (state_->shown) Say("\r\x1b[K");
}

}  // namespace frazil::cli
