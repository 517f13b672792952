// `generate` and `fold`: a region for each index, in ascending order. What it yields goes where it belongs at once.
#include <algorithm>

#include "exec/meaning/interpreter_machine.h"

namespace frazil::exec {

using ir::Function;

Machine::Flow Machine::EnterGenerate(const ir::Inst& inst) {
  bool has_elements = false;
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const Object* result = MakeResult(inst, k);
    if (result == nullptr) return Flow::Turn;
    has_elements = has_elements || result->memory->length() > 0;
  }
  // Nothing is made for nobody: there may be more indices than anybody can count.
  if (!has_elements) return Flow::Next;
  const ir::RegionId region = Function::region_of(inst, 0);
  uint64_t count = 1;
  for (uint32_t i = 0; i < function().region(region).params.count; ++i)
    count *= static_cast<uint64_t>(ObjectOf(Function::result_of(inst)).dims[i]);
  PushRegion(&inst, region);
  activations_.back().left = count - 1;
  StartIndices(inst);
  return Flow::Turn;
}

void Machine::StartIndices(const ir::Inst& owner) {
  Activation& top = activations_.back();
  top.next = 0;
  const ir::Range params = function().region(top.region).params;
  const std::vector<int64_t>& dims = ObjectOf(Function::result_of(owner)).dims;
  uint64_t rest = top.counter;
  for (uint32_t i = params.count; i-- > 0;) {
    const uint64_t size = static_cast<uint64_t>(dims[i]);
    Word(ir::ValueId(params.begin + i)) = rest % size;
    rest /= size;
  }
}

Machine::Flow Machine::NextGenerated(const ir::Inst& owner, const ir::Inst& yield) {
  if (Expired()) return TrapEnded(owner);
  const uint64_t element = activations_.back().counter;
  for (uint32_t k = 0; k < owner.results.count; ++k) {
    Memory& to = *ObjectOf(Function::result_of(owner, k)).memory;
    const ir::ValueId value = function().operand(yield, k);
    if (TypeOf(value).is_scalar()) {
      to.Set(static_cast<int64_t>(element), WordsOf(value));
      continue;
    }
    const Memory& part = *ObjectOf(value).memory;
    std::copy_n(part.data(), part.size_bytes(), to.data() + element * part.size_bytes());
  }
  ReleaseObjects(activations_.back().objects_made);
  Activation& top = activations_.back();
  if (top.left == 0) {
    PopRegion();
    return Flow::Turn;
  }
  top.left -= 1;
  top.counter += 1;
  StartIndices(owner);
  return Flow::Turn;
}

Machine::Flow Machine::EnterFold(const ir::Inst& inst) {
  const int64_t count = std::max<int64_t>(static_cast<int64_t>(Operand(inst, 0)), 0);
  if (!TakeFuel(static_cast<uint64_t>(count))) return Trap(ir::Trap::Fuel, inst);
  const ir::Function& f = function();
  auto fold = std::make_unique<TreeFold>(inst.type, static_cast<ir::ReduceKind>(f.word(inst, 0)),
                                         f.word(inst, 1), f.word(inst, 2));
  if (count == 0) {
    fold->Finish(WordsOf(Function::result_of(inst)));
    return Flow::Next;
  }
  const ir::RegionId region = Function::region_of(inst, 0);
  PushRegion(&inst, region);
  activations_.back().left = static_cast<uint64_t>(count) - 1;
  activations_.back().fold = std::move(fold);
  Word(Function::param_of(f.region(region), 0)) = 0;
  return Flow::Turn;
}

Machine::Flow Machine::NextFolded(const ir::Inst& owner, const ir::Inst& yield) {
  if (Expired()) return TrapEnded(owner);
  Activation& top = activations_.back();
  top.fold->Add(WordsOf(function().operand(yield, 0)));
  ReleaseObjects(top.objects_made);
  if (top.left == 0) {
    const std::unique_ptr<TreeFold> fold = std::move(top.fold);
    PopRegion();
    fold->Finish(WordsOf(Function::result_of(owner)));
    return Flow::Turn;
  }
  top.left -= 1;
  top.counter += 1;
  top.next = 0;
  Word(Function::param_of(function().region(top.region), 0)) = top.counter;
  return Flow::Turn;
}

}  // namespace frazil::exec
