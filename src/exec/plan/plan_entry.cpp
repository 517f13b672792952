#include "exec/plan/plan_entry.h"

#include <cstring>

namespace frazil::exec {
namespace {

// The plan is a fourth argument.
int32_t CallPlan(const uint64_t* arguments, uint64_t* results, NativeRun* run,
                 const PlanCode* plan) {
  return plan->Call(arguments, results, run);
}

void AppendAddress(std::string& code, uint64_t address) {
  char bytes[sizeof(address)];
  std::memcpy(bytes, &address, sizeof(address));
  code.append(bytes, sizeof(bytes));
}

}  // namespace

Result<std::shared_ptr<const NativeCode>> MakePlanEntry(const PlanCode& plan) {
  NativeImage image;
  image.code = "\x48\xb9";  // mov rcx, the plan
  AppendAddress(image.code, reinterpret_cast<uint64_t>(&plan));
  image.code += "\x48\xb8";  // mov rax, CallPlan
  AppendAddress(image.code, reinterpret_cast<uint64_t>(&CallPlan));
  image.code += "\xff\xe0";  // jmp rax
  return NativeCode::Map(image);
}

}  // namespace frazil::exec
