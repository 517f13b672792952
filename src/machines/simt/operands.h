// What an instruction reads and writes, from its row's shape: one description for verifier, lifting and sanitizers.
#pragma once

#include <array>
#include <cstdint>

#include "machines/simt/isa.h"

namespace frazil::machines::simt {

// Registers, predicates and buffers in one numbering.
using Place = uint16_t;
constexpr Place RegisterPlace(uint8_t number) { return number; }
constexpr Place BufferPlace(uint8_t number) {
  return static_cast<Place>(Registers + Predicates + number);
}
constexpr uint32_t PlaceCount = Registers + Predicates + MaxBuffers;
// A number that is no predicate's gives PlaceCount, which is no place.
constexpr Place PredicatePlace(uint8_t number) {
  return static_cast<Place>(number < Predicates ? Registers + number : PlaceCount);
}
// The place of operand `number` whose type is `type`.
constexpr Place PlaceOf(Type type, uint8_t number) {
  return type == Type::Bool ? PredicatePlace(number) : RegisterPlace(number);
}

enum class Need : uint8_t {
  Exact,    // exactly `type`
  Integer,  // any integer, idx included
  Shift,    // `type` or u32
  Buffer,   // a buffer: parameter, or allocated scratch
};

struct Read {
  Place place;
  Need need;
  Type type;
};

struct Operands {
  std::array<Read, 6> reads;
  uint8_t read_count = 0;
  bool writes = false;
  Place written = 0;
  Type written_type = Type::I8;

  void Add(Place place, Type type, Need need = Need::Exact) {
    reads[read_count++] = {place, need, type};
  }
  void Set(Place place, Type type) {
    writes = true;
    written = place;
    written_type = type;
  }
};

// The guard is not among the reads; RegReduce reads registers a .. a+imm-1 besides.
Operands OperandsOf(const Instruction& instruction);

// Which fields of the instruction its row and address mode use; the others are 0 in a verified module.
struct Fields {
  bool type = false, aux = false, dst = false, a = false, b = false, c = false, imm = false;
};
Fields FieldsOf(const Instruction& instruction);

}  // namespace frazil::machines::simt
