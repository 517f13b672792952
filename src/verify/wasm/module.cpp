// Nothing is believed: counts are bounded by what is left, indices by what was declared, sections come in their order.
#include "verify/wasm/module.h"

#include <fmt/format.h>

namespace frazil::verify::wasm {
namespace {

class Bytes {
 public:
  Bytes(std::string_view bytes, uint32_t begin, uint32_t end)
      : bytes_(bytes), at_(begin), end_(end) {}

  uint32_t at() const { return at_; }
  bool is_done() const { return at_ == end_; }
  std::unexpected<Error> Bad(std::string_view what) const {
    return Fail(Diag::Unsupported, fmt::format("+{:#x}: {}", at_, what));
  }

  Result<uint8_t> Byte() {
    if (at_ == end_) return Bad("the bytes end too early");
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  Result<uint32_t> Unsigned() {
    uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const uint8_t byte = TRY(Byte());
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80 && value <= UINT32_MAX) return static_cast<uint32_t>(value);
      if (byte < 0x80) break;
    }
    return Bad("a number that is too large");
  }
  Result<int64_t> Signed() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = TRY(Byte());
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    return Bad("a number that is too large");
  }
  Result<uint32_t> Below(uint64_t limit, std::string_view what) {
    const uint32_t value = TRY(Unsigned());
    if (value >= limit) return Bad(what);
    return value;
  }
  // Each takes at least one byte.
  Result<uint32_t> Count() { return Below(uint64_t{end_ - at_} + 1, "a list that is too long"); }
  Result<std::string_view> Take(uint32_t count) {
    if (count > end_ - at_) return Bad("the bytes end too early");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

 private:
  std::string_view bytes_;
  uint32_t at_, end_;
};

constexpr uint8_t I32 = 0x7f, F64 = 0x7c;  // types of values: from the one down to the other

// What stands behind the opcode.
enum class Operands : uint8_t {
  Refused,
  None,
  Type,
  Label,
  Labels,
  Index,
  Address,
  Integer,
  Bytes4,
  Bytes8,
  Zero,
  Zeros
};

Operands OperandsOf(uint16_t code) {
  switch (code) {
    case Block:
    case Loop:
    case If: return Operands::Type;
    case Br:
    case BrIf: return Operands::Label;
    case BrTable: return Operands::Labels;
    case Call: return Operands::Index;
    case I32Const:
    case I64Const: return Operands::Integer;
    case 0x43: return Operands::Bytes4;
    case 0x44: return Operands::Bytes8;
    case 0x3f:  // memory.size, memory.grow, memory.fill
    case 0x40:
    case 0xfc0b: return Operands::Zero;
    case 0xfc0a: return Operands::Zeros;  // memory.copy
    case Unreachable:
    case Nop:
    case Else:
    case End:
    case Return:
    case Drop:
    case Select: return Operands::None;
    default: break;
  }
  if (code >= LocalGet && code <= GlobalSet) return Operands::Index;
  if (code >= 0x28 && code <= 0x3e) return Operands::Address;
  // Comparisons, arithmetic, conversions; conversions that do not trap.
  if ((code >= I32Eqz && code <= 0xc4) || (code >= 0xfc00 && code <= 0xfc07)) return Operands::None;
  return Operands::Refused;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Result<Module> Read() {
    if (bytes_.size() > (1u << 30) || !bytes_.starts_with(std::string_view("\0asm\1\0\0\0", 8)))
      return Fail(Diag::Unsupported, "it is no WASM module of version 1");
    Bytes in(bytes_, 8, static_cast<uint32_t>(bytes_.size()));
    uint8_t last = 0;
    while (!in.is_done()) {
      Section section{TRY(in.Byte()), 0, 0};
      if (section.id != 0 && section.id <= last) return in.Bad("a section out of order");
      if (section.id != 0) last = section.id;
      const uint32_t size = TRY(in.Unsigned());
      section.begin = in.at();
      TRY(in.Take(size));
      section.end = in.at();
      module_.sections.push_back(section);
      Bytes content(bytes_, section.begin, section.end);
      TRY_VOID(ReadSection(section.id, content));
      if (section.id != 0 && !content.is_done())
        return content.Bad("bytes behind a section's list");
    }
    if (bodies_ != module_.functions.size()) return in.Bad("functions and bodies differ in number");
    return std::move(module_);
  }

 private:
  Result<void> ReadSection(uint8_t id, Bytes& in) {
    switch (id) {
      case 0: return {};  // names
      case Types: return ReadTypes(in);
      case Functions: return ReadFunctions(in);
      case Memories: return ReadMemory(in);
      case Globals: return ReadGlobals(in);
      case Exports: return ReadExports(in);
      case Code: return ReadBodies(in);
      case Data: return ReadData(in);
      default: return in.Bad(fmt::format("section {}", id));
    }
  }

  static Result<void> ReadValueType(Bytes& in) {
    const uint8_t type = TRY(in.Byte());
    if (type < F64 || type > I32) return in.Bad("a type of values that is not known");
    return {};
  }

  Result<void> ReadTypes(Bytes& in) {
    constexpr uint8_t IsFunction = 0x60;
    module_.types = TRY(in.Count());
    for (uint32_t i = 0; i < module_.types; ++i) {
      if (TRY(in.Byte()) != IsFunction) return in.Bad("a type of another form");
      for (int list = 0; list < 2; ++list) {  // parameters, results
        const uint32_t count = TRY(in.Count());
        for (uint32_t k = 0; k < count; ++k) TRY_VOID(ReadValueType(in));
      }
    }
    return {};
  }

  Result<void> ReadFunctions(Bytes& in) {
    module_.functions.resize(TRY(in.Count()));
    for (size_t i = 0; i < module_.functions.size(); ++i)
      TRY(in.Below(module_.types, "a type that is not there"));
    return {};
  }

  // At most one, and nothing that keeps it from growing: a run would end where no program does.
  Result<void> ReadMemory(Bytes& in) {
    module_.memories = TRY(in.Below(2, "more than one memory"));
    for (uint32_t i = 0; i < module_.memories; ++i) {
      TRY(in.Below(1, "a memory of another form"));
      TRY(in.Unsigned());
    }
    return {};
  }

  Result<void> ReadGlobals(Bytes& in) {
    module_.globals = TRY(in.Count());
    module_.global_names.resize(module_.globals);
    for (uint32_t i = 0; i < module_.globals; ++i) {
      TRY_VOID(ReadValueType(in));
      TRY(in.Below(2, "a global of another form"));
      TRY(ReadConstant(in));
    }
    return {};
  }

  static Result<int64_t> ReadConstant(Bytes& in) {
    const uint8_t code = TRY(in.Byte());
    if (code != I32Const && code != I64Const) return in.Bad("a constant of another form");
    const int64_t value = TRY(in.Signed());
    if (TRY(in.Byte()) != End) return in.Bad("a constant of another form");
    return value;
  }

  Result<void> ReadData(Bytes& in) {
    const uint32_t count = TRY(in.Count());
    for (uint32_t i = 0; i < count; ++i) {
      Segment segment;
      segment.place = in.at();
      TRY(in.Below(1, "data of another form"));
      segment.address = static_cast<uint32_t>(TRY(ReadConstant(in)));
      segment.bytes = TRY(in.Take(TRY(in.Unsigned())));
      module_.data.push_back(segment);
    }
    return {};
  }

  Result<void> ReadExports(Bytes& in) {
    const uint32_t count = TRY(in.Count());
    for (uint32_t i = 0; i < count; ++i) {
      Export entry;
      entry.name = TRY(in.Take(TRY(in.Unsigned())));
      entry.kind = TRY(in.Byte());
      if (entry.kind == 0) {
        entry.index = TRY(in.Below(module_.functions.size(), "a function that is not there"));
      } else if (entry.kind == 2) {
        entry.index = TRY(in.Below(module_.memories, "a memory that is not there"));
      } else if (entry.kind == 3) {
        entry.index = TRY(in.Below(module_.globals, "a global that is not there"));
        std::string_view& name = module_.global_names[entry.index];
        if (!name.empty()) return in.Bad("a global with two names");
        name = entry.name;
      } else {
        return in.Bad("an export of another kind");
      }
      module_.exports.push_back(entry);
    }
    return {};
  }

  Result<void> ReadBodies(Bytes& in) {
    bodies_ = TRY(in.Count());
    if (bodies_ != module_.functions.size()) return in.Bad("functions and bodies differ in number");
    for (Function& function : module_.functions) {
      const uint32_t size = TRY(in.Unsigned());
      function.begin = in.at();
      TRY(in.Take(size));
      function.end = in.at();
      Bytes body(bytes_, function.begin, function.end);
      const uint32_t runs = TRY(body.Count());
      for (uint32_t i = 0; i < runs; ++i) {
        TRY(body.Unsigned());
        TRY_VOID(ReadValueType(body));
      }
      std::vector<uint16_t> open = {
          Block};  // the function's own included; an if that is past its else is none
      while (!open.empty()) {
        Instruction instruction = TRY(ReadInstruction(body, static_cast<uint32_t>(open.size())));
        const uint16_t code = instruction.code;
        if (code == Else && open.back() != If) return body.Bad("an else without an if");
        if (code == Else) open.back() = Else;
        if (code == Block || code == Loop || code == If) open.push_back(code);
        if (code == End) open.pop_back();
        function.code.push_back(std::move(instruction));
      }
      if (!body.is_done()) return body.Bad("code behind the end of a function");
    }
    return {};
  }

  // Nothing, or one value.
  static Result<void> ReadBlockType(Bytes& in) {
    constexpr uint8_t NoResult = 0x40;
    const uint8_t type = TRY(in.Byte());
    if (type != NoResult && (type < F64 || type > I32))
      return in.Bad("a type of blocks that is not known");
    return {};
  }

  Result<Instruction> ReadInstruction(Bytes& in, uint32_t depth) {
    Instruction out;
    out.place = in.at();
    out.code = TRY(in.Byte());
    if (out.code == 0xfc)
      out.code =
          static_cast<uint16_t>(0xfc00 | TRY(in.Below(0x100, "an instruction that is not known")));
    constexpr std::string_view NoLabel = "a label that is not there";
    switch (OperandsOf(out.code)) {
      case Operands::Refused: return in.Bad("an instruction that is not known");
      case Operands::None: break;
      case Operands::Type: TRY_VOID(ReadBlockType(in)); break;
      case Operands::Label: out.number = TRY(in.Below(depth, NoLabel)); break;
      case Operands::Labels: {
        const uint32_t count = TRY(in.Count());
        for (uint32_t i = 0; i <= count; ++i) out.labels.push_back(TRY(in.Below(depth, NoLabel)));
        break;
      }
      case Operands::Index:
        out.number = TRY(in.Unsigned());
        if (out.code == Call && static_cast<uint64_t>(out.number) >= module_.functions.size())
          return in.Bad("a function that is not there");
        break;
      case Operands::Address:
        // Of the first memory.
        TRY(in.Below(4, "an address of another form"));
        TRY(in.Unsigned());
        break;
      case Operands::Integer: out.number = TRY(in.Signed()); break;
      case Operands::Bytes4: TRY(in.Take(4)); break;
      case Operands::Bytes8: TRY(in.Take(8)); break;
      case Operands::Zeros: TRY(in.Below(1, "another memory")); [[fallthrough]];
      case Operands::Zero: TRY(in.Below(1, "another memory")); break;
    }
    out.next = in.at();
    return out;
  }

  std::string_view bytes_;
  Module module_;
  size_t bodies_ = 0;
};

}  // namespace

std::string_view Module::GlobalName(int64_t index) const {
  return index >= 0 && index < int64_t{globals} ? global_names[static_cast<size_t>(index)]
                                                : std::string_view();
}

Result<Module> ReadModule(std::string_view bytes) { return Reader(bytes).Read(); }

Result<ListHead> ReadListHead(std::string_view bytes, const Section& section) {
  Bytes in(bytes, section.begin, section.end);
  const uint32_t count = TRY(in.Count());
  return ListHead{count, in.at()};
}

void AppendUnsigned(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendSigned(std::string& out, int64_t value) {
  for (; value < -64 || value > 63; value >>= 7)
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value & 0x7f));
}

}  // namespace frazil::verify::wasm
