// Memory. A buffer is two words, where it starts and how many elements it has; an element's first word lies lowest.
// Loads and stores of neighbors become one read_mem or write_mem of up to five.
#include <algorithm>

#include "base/number/goldilocks.h"
#include "targets/tasm/words/selector.h"
#include "targets/tasm/words/words.h"

namespace frazil::targets::tasm {

namespace g = goldilocks;
using ir::Op;
using ir::Scalar;
using ir::Trap;

namespace {
// Tables and scratch of more words are filled by a loop.
constexpr uint64_t MostFilledInline = 10;
}  // namespace

std::vector<uint64_t> Selector::MaxOf(ir::Type type) const {
  const uint32_t words = WordsOnMachine(type);
  if (type.scalar == Scalar::Field || type.scalar == Scalar::XField ||
      type.scalar == Scalar::Digest)
    return std::vector<uint64_t>(words, MaxField);
  const Integers::Shape s = Integers::ShapeOf(type);
  return std::vector<uint64_t>(words, (uint64_t{1} << s.bits) - 1);
}

std::vector<Word> Selector::LoadAt(Word address, uint32_t words, ir::Type element) {
  const uint64_t max = MaxOf(element)[0];
  std::vector<Word> loaded;
  Word pointer = b_.AddI(address, words - 1);
  for (uint32_t left = words; left > 0;) {
    const uint32_t count = std::min(left, 5u);
    std::vector<Word> part = b_.ReadMem(pointer, count, max);
    pointer = part.back();
    part.pop_back();
    loaded.insert(loaded.end(), part.begin(), part.end());
    left -= count;
  }
  return Ordered(loaded);
}

void Selector::StoreAt(Word address, const std::vector<Word>& words) {
  for (size_t i = 0; i < words.size(); i += 5) {
    const size_t count = std::min<size_t>(words.size() - i, 5);
    address = b_.WriteMem(address, std::span(words).subspan(i, count));
  }
}

void Selector::CheckIndex(const std::vector<Word>& index, Word length, int32_t site) {
  if (!b_.IsConst(index[1], 0)) b_.AssertZero(index[1], site);
  if (below_.contains({index[0], length})) return;
  const Word inside = b_.Lt(index[0], length);
  b_.Assert(inside, site);
  below_.insert({index[0], length});
}

// Unchecked unless the compiler has words of its own in RAM, which only the whole program tells.
Word Selector::RawAddress(Word address, Location location) {
  uint64_t offset = 0;
  Word base = address;
  if (b_.IsConst(address)) {
    if (b_.ValueOf(address) <= MaxU32) return address;
    if (state_.check_raw && !state_.beyond) state_.beyond = location;
    state_.words.raw = true;
    return address;
  }
  if (const WordNode& def = b_.function().def(address);
      def.op == WordOp::AddI && (def.number <= MaxU32 || g::Neg(def.number) <= MaxU32)) {
    base = def.inputs[0];
    offset = def.number;
  }
  if (b_.Max(base) <= MaxU32) return address;
  state_.words.raw = true;
  // In a test that is gone through again the same address has passed already.
  if (!state_.check_raw || silent_) return address;
  return b_.AddI(b_.CheckU32(base, Site(Trap::OutOfBounds)), offset);
}

Word Selector::ElementAddress(const ir::Inst& inst, uint32_t buffer, uint32_t index) {
  const std::vector<Word>& at = Operand(inst, index);
  if (scope_->raw.contains(f().operand(inst, buffer).index))
    return RawAddress(b_.Join(at[1], at[0]), inst.location);
  const std::vector<Word>& place = Operand(inst, buffer);
  CheckIndex(at, place[1], Site(Trap::OutOfBounds));
  return b_.Add(place[0], b_.MulI(at[0], WordsOnMachine(inst.type)));
}

void Selector::Load(const ir::Inst& inst) {
  SetResult(inst, LoadAt(ElementAddress(inst, 0, 1), WordsOnMachine(inst.type), inst.type));
}

void Selector::Store(const ir::Inst& inst) {
  StoreAt(ElementAddress(inst, 0, 1), Operand(inst, 2));
}

void Selector::ZeroFill(Word address, Word count) {
  const Word zero = b_.Const(0);
  if (b_.IsConst(count) && b_.ValueOf(count) <= MostFilledInline) {
    StoreAt(address, std::vector<Word>(b_.ValueOf(count), zero));
    return;
  }
  // By fives where the count is known; what is too much lies in the scratch's own room.
  const bool fives = b_.IsConst(count);
  const uint64_t step = fives ? 5 : 1;
  const uint32_t region = b_.OpenRegion();
  const Word at = b_.Param(MaxField);
  b_.CloseRegion({b_.WriteMem(at, std::vector<Word>(step, zero))});
  const Word rounds = fives ? b_.Const((b_.ValueOf(count) + 4) / 5) : count;
  b_.Emit(WordOp::Loop, {rounds, address}, {MaxField});
  b_.last_node().regions = {region};
}

void Selector::Alloc(const ir::Inst& inst, bool zero) {
  const std::vector<Word>& length = Operand(inst, 0);
  const uint32_t words = WordsOnMachine(inst.type);
  Word address;
  // What no run may have at a time traps; less than that is a matter of the machine's cycles.
  const uint64_t most = Limits{}.memory_bytes / ir::BytesOf(inst.type);
  if (b_.IsConst(length[0]) && b_.IsConst(length[1]) &&
      (b_.ValueOf(length[1]) != 0 || b_.ValueOf(length[0]) > most)) {
    b_.Emit(WordOp::Assert, {b_.Const(0)}, {}, Site(Trap::Memory));
    SetResult(inst, {b_.Const(state_.scratch), length[0]});
    return;
  }
  if (b_.IsConst(length[0]) && b_.IsConst(length[1], 0)) {
    address = b_.Const(state_.scratch);
    state_.scratch += (b_.ValueOf(length[0]) * words + 9) / 5 * 5;
  } else {
    b_.AssertZero(length[1], Site(Trap::Memory));
    b_.Assert(b_.Lt(length[0], b_.Const(most + 1)), Site(Trap::Memory));
    state_.heap = true;
    const Word cell = b_.Const(HeapBase);
    address = b_.ReadMem(cell, 1, MaxField)[0];
    b_.WriteMem(cell, std::vector<Word>{b_.Add(address, b_.MulI(length[0], words))});
  }
  if (zero) ZeroFill(address, b_.MulI(length[0], words));
  SetResult(inst, {address, length[0]});
}

void Selector::Lookup(const ir::Inst& inst) {
  const uint32_t id = static_cast<uint32_t>(f().word(inst, 0));
  const ir::Data& data = scope_->program->data[id];
  const std::vector<Word>& index = Operand(inst, 0);
  const uint32_t per = ir::WordsOf(data.element);
  if (b_.IsConst(index[0]) && b_.IsConst(index[1], 0) && b_.ValueOf(index[0]) < data.length()) {
    SetResult(inst, ConstOp(data.element,
                            std::span(data.words).subspan(b_.ValueOf(index[0]) * per, per)));
    return;
  }
  const uint32_t words = WordsOnMachine(data.element);
  auto [place, fresh] = state_.tables.try_emplace(&data, state_.scratch);
  if (fresh) state_.scratch += data.length() * words;
  CheckIndex(index, b_.Const(data.length()), Site(Trap::OutOfBounds));
  SetResult(inst, LoadAt(b_.AddI(b_.MulI(index[0], words), place->second), words, data.element));
}

void Selector::Atomic(const ir::Inst& inst) {
  const Word address = ElementAddress(inst, 0, 1);
  const uint32_t words = WordsOnMachine(inst.type);
  const std::vector<Word> old = LoadAt(address, words, inst.type);
  const std::vector<Word>& value = Operand(inst, 2);
  const Integers::Shape s = Integers::ShapeOf(inst.type);
  std::vector<Word> next;
  if (inst.op == Op::AtomicCas) {
    next = ints_.Select(ints_.Eq(old, value), Operand(inst, 3), old);
  } else {
    switch (static_cast<ir::AtomicKind>(f().word(inst, 0))) {
      case ir::AtomicKind::Add: next = ints_.Add(s, old, value, false); break;
      case ir::AtomicKind::Min: next = ints_.Select(ints_.Lt(s, old, value), old, value); break;
      case ir::AtomicKind::Max: next = ints_.Select(ints_.Lt(s, old, value), value, old); break;
      case ir::AtomicKind::And: next = ints_.And(old, value); break;
      case ir::AtomicKind::Or: next = ints_.Or(old, value); break;
      case ir::AtomicKind::Xor: next = ints_.Xor(old, value); break;
      case ir::AtomicKind::Exchange: next = value; break;
    }
  }
  StoreAt(address, next);
  SetResult(inst, old);
}

std::vector<Word> Selector::CheckRange(ir::Type type, std::vector<Word> words, int32_t site) {
  if (type.scalar == Scalar::Field || type.scalar == Scalar::XField ||
      type.scalar == Scalar::Digest)
    return words;
  const Integers::Shape s = Integers::ShapeOf(type);
  for (Word& word : words) {
    if (s.bits == 32) {
      word = b_.CheckU32(word, site);
    } else {
      b_.Assert(b_.LtChecked(word, uint64_t{1} << s.bits, site), site);
      b_.Bounded(word, (uint64_t{1} << s.bits) - 1);
    }
  }
  return words;
}

// What comes from outside has its type's range only after a check.
std::vector<Word> Selector::ReadValue(WordOp from, ir::Type type, int32_t site) {
  return CheckRange(type, b_.Read(from, WordsOnMachine(type), site), site);
}

Word Selector::ReadBuffer(uint32_t param, ir::Type type) {
  const Word base = b_.Const(ParameterBase * (param + 1));
  const int32_t site = Site(Trap::OutOfBounds, Op::Input);
  const Word length = ReadValue(WordOp::ReadIo, ir::types::U32, site)[0];
  const uint32_t region = b_.OpenRegion();
  const Word at = b_.Param(MaxField);
  const std::vector<Word> value =
      CheckRange(type.element(), b_.Read(WordOp::ReadIo, 1, site), site);
  b_.CloseRegion({b_.WriteMem(at, value)});
  b_.Emit(WordOp::Loop, {b_.MulI(length, WordsOnMachine(type.element())), base}, {MaxField});
  b_.last_node().regions = {region};
  return length;
}

void Selector::WriteBuffer(Word address, Word length, ir::Type type) {
  const uint32_t region = b_.OpenRegion();
  const Word at = b_.Param(MaxField);
  const std::vector<Word> read = b_.ReadMem(at, 1, MaxField);
  b_.Write(std::vector<Word>{read[0]});
  b_.CloseRegion({b_.AddI(read[1], 2)});
  b_.Emit(WordOp::Loop, {b_.MulI(length, WordsOnMachine(type.element())), address}, {MaxField});
  b_.last_node().regions = {region};
}

// Constant tables go to RAM once, before anything else.
void Selector::WriteTables() {
  std::map<uint64_t, const ir::Data*> by_address;
  for (const auto& [data, address] : state_.tables) by_address[address] = data;
  for (const auto& [address, table] : by_address) {
    const ir::Data& data = *table;
    const uint32_t per = ir::WordsOf(data.element);
    std::vector<Word> words;
    for (uint64_t i = 0; i < data.length(); ++i) {
      const std::vector<Word> element =
          ConstOp(data.element, std::span(data.words).subspan(i * per, per));
      words.insert(words.end(), element.begin(), element.end());
    }
    StoreAt(b_.Const(address), words);
  }
  if (state_.heap) b_.WriteMem(b_.Const(HeapBase), std::vector<Word>{b_.Const(HeapBase + 1)});
}

}  // namespace frazil::targets::tasm
