// The door: what goes into a slot was verified, and for this slot's program.
#include "dispatch/slot.h"

namespace frazil::dispatch {

Slot::Slot(const ir::SignedProgram& program, Fluid& fluid, Watcher& watcher, const Limits& limits)
    : core_(fluid, watcher, limits),
      source_exact_(program.exact()),
      words_(program.program().entry_function()) {}

Slot::~Slot() = default;

bool Slot::Install(std::shared_ptr<const Solid> solid) {
  if (solid == nullptr || solid->form()->source_exact != source_exact_) return false;
  return core_.Install(Link(solid->code_->function(), solid->guard_, solid, solid->parts_));
}

bool Slot::Retire(const Solid& solid) { return core_.Retire(&solid); }

void Slot::Melt() { core_.Melt(); }

std::vector<std::shared_ptr<const Solid>> Slot::forms() const {
  std::vector<std::shared_ptr<const Solid>> forms;
  for (const std::shared_ptr<const void>& owner : core_.owners()) {
    forms.push_back(std::static_pointer_cast<const Solid>(owner));
  }
  return forms;
}

}  // namespace frazil::dispatch
