#include "base/check.h"

#include <atomic>

namespace frazil {
namespace {
std::atomic<CheckHandler> current_handler = nullptr;
}  // namespace

void SetCheckHandler(CheckHandler handler) { current_handler = handler; }

void CheckFailed(const char* file, int line, const char* condition) {
  if (CheckHandler handler = current_handler.load()) handler(file, line, condition);
  __builtin_trap();
}

}  // namespace frazil
