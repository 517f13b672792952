// Handlers of hashing: the sponge, fixed-length hashing and Merkle steps.
#include <algorithm>

#include "base/number/goldilocks.h"
#include "machines/tasm/handlers.h"

namespace frazil::machines::tasm {
namespace {

template <Mode mode>
void PermuteIn(Machine& m, const Op* pc, Tip5State& state) {
  if (!IsTraced(mode) || m.rows == nullptr) {
    Permute(state);
    return;
  }
  Tip5Lookups lookups;
  PermuteRecording(state, lookups);
  const uint64_t fresh = m.limbs.Add(lookups);
  if (m.attribution == nullptr) return;
  m.execution_limbs.Add(lookups);
  if (fresh != 0) m.attribution->Add(static_cast<uint32_t>(pc - m.code), Table::Cascade, fresh);
}

// Work that needs memory of its own stays out of the handlers, so that these can end in a jump.
template <Mode mode>
[[gnu::noinline]] void HashTop(Machine& m, const Op* pc, uint64_t* sp) {
  Tip5State state = Tip5State::FixedLength();
  for (int i = 0; i < 10; ++i) state.elements[static_cast<size_t>(i)] = sp[-i];
  PermuteIn<mode>(m, pc, state);
  for (int i = 0; i < 5; ++i) sp[-5 - i] = state.elements[static_cast<size_t>(i)];
}

FRAZIL_TASM_HANDLER(DoHash) {
  FRAZIL_TASM_SHRINK(5);
  HashTop<mode>(m, pc, sp);
  sp -= 5;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoSpongeInit) {
  m.sponge.emplace();
  FRAZIL_TASM_NEXT(pc + 1);
}

template <Mode mode>
[[gnu::noinline]] void PermuteSponge(Machine& m, const Op* pc) {
  PermuteIn<mode>(m, pc, *m.sponge);
}

FRAZIL_TASM_HANDLER(DoSpongeAbsorb) {
  FRAZIL_TASM_SHRINK(10);
  FRAZIL_TASM_NEED(m.sponge.has_value(), SpongeNotInitialized);
  for (int i = 0; i < 10; ++i) m.sponge->elements[static_cast<size_t>(i)] = sp[-i];
  PermuteSponge<mode>(m, pc);
  sp -= 10;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoSpongeAbsorbMem) {
  FRAZIL_TASM_NEED(m.sponge.has_value(), SpongeNotInitialized);
  for (size_t i = 0; i < 10; ++i) {
    m.sponge->elements[i] = m.ram.Read(*sp);
    *sp = goldilocks::Add(*sp, 1);
  }
  for (int i = 0; i < 4; ++i) sp[-1 - i] = m.sponge->elements[static_cast<size_t>(i)];
  PermuteSponge<mode>(m, pc);
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoSpongeSqueeze) {
  FRAZIL_TASM_NEED(m.sponge.has_value(), SpongeNotInitialized);
  sp += 10;
  for (int i = 0; i < 10; ++i) sp[-i] = m.sponge->elements[static_cast<size_t>(i)];
  PermuteSponge<mode>(m, pc);
  FRAZIL_TASM_NEXT(pc + 1);
}

// The node in st0..st4 becomes its parent; an even index stands left of its sibling.
template <Mode mode>
void StepUp(Machine& m, const Op* pc, uint64_t* sp, const Digest& sibling) {
  const uint64_t index = sp[-5];
  const size_t node_at = index % 2 == 0 ? 0 : 5;
  Tip5State state = Tip5State::FixedLength();
  for (size_t i = 0; i < 5; ++i) {
    state.elements[node_at + i] = sp[-static_cast<ptrdiff_t>(i)];
    state.elements[5 - node_at + i] = sibling[i];
  }
  PermuteIn<mode>(m, pc, state);
  if constexpr (IsTraced(mode)) AddU32(m, pc, U32Op::Split, index, index / 2);
  for (int i = 0; i < 5; ++i) sp[-i] = state.elements[static_cast<size_t>(i)];
  sp[-5] = index / 2;
}

template <Mode mode>
[[gnu::noinline]] void StepUpBySecret(Machine& m, const Op* pc, uint64_t* sp) {
  Digest sibling = m.inputs->digests[m.digest_at++];
  for (uint64_t& element : sibling) element = goldilocks::FromUint64(element);
  StepUp<mode>(m, pc, sp, sibling);
}

template <Mode mode>
[[gnu::noinline]] void StepUpByRam(Machine& m, const Op* pc, uint64_t* sp) {
  Digest sibling;
  for (uint64_t& element : sibling) {
    element = m.ram.Read(sp[-7]);
    sp[-7] = goldilocks::Add(sp[-7], 1);
  }
  StepUp<mode>(m, pc, sp, sibling);
}

FRAZIL_TASM_HANDLER(DoMerkleStep) {
  FRAZIL_TASM_NEED(IsU32(sp[-5]), NotU32);
  FRAZIL_TASM_NEED(m.digest_at < m.inputs->digests.size(), DigestsEmpty);
  StepUpBySecret<mode>(m, pc, sp);
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoMerkleStepMem) {
  FRAZIL_TASM_NEED(IsU32(sp[-5]), NotU32);
  StepUpByRam<mode>(m, pc, sp);
  FRAZIL_TASM_NEXT(pc + 1);
}

}  // namespace

template <Mode mode>
Handler HashHandler(Opcode op) {
  switch (op) {
    case Opcode::Hash: return DoHash<mode>;
    case Opcode::SpongeInit: return DoSpongeInit<mode>;
    case Opcode::SpongeAbsorb: return DoSpongeAbsorb<mode>;
    case Opcode::SpongeAbsorbMem: return DoSpongeAbsorbMem<mode>;
    case Opcode::SpongeSqueeze: return DoSpongeSqueeze<mode>;
    case Opcode::MerkleStep: return DoMerkleStep<mode>;
    case Opcode::MerkleStepMem: return DoMerkleStepMem<mode>;
    default: return nullptr;
  }
}

template Handler HashHandler<Mode::Fast>(Opcode op);
template Handler HashHandler<Mode::Traced>(Opcode op);
template Handler HashHandler<Mode::Stepping>(Opcode op);

}  // namespace frazil::machines::tasm
