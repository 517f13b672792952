// The reader trusts nothing: every count is bounded by the bytes that are left, every index by what
// was declared. Instructions are read on demand (ReadInstruction), so that a body costs no memory.
#include "targets/wasm/module/module_reader.h"

#include <fmt/format.h>

namespace frazil::targets::wasm {
namespace {

constexpr uint32_t MaxLocals = 50'000;  // the limit that engines share

Result<ValType> ReadValType(ByteReader& reader) {
  uint8_t byte = TRY(reader.Byte());
  if (byte < 0x7c || byte > 0x7f) return reader.Bad("unknown value type");
  return static_cast<ValType>(byte);
}

Result<std::vector<ValType>> ReadValTypes(ByteReader& reader) {
  uint32_t count = TRY(reader.Count());
  std::vector<ValType> types;
  for (uint32_t i = 0; i < count; ++i) types.push_back(TRY(ReadValType(reader)));
  return types;
}

class SectionReader {
 public:
  explicit SectionReader(ModuleView& module) : module_(module) {}

  Result<void> Read(uint8_t id, ByteReader& in) {
    switch (id) {
      case 0: return Custom(in);
      case 1: return Types(in);
      case 3: return Functions(in);
      case 5: return Memory(in);
      case 6: return Globals(in);
      case 7: return Exports(in);
      case 10: return Code(in);
      case 11: return Data(in);
      default: return in.Bad(fmt::format("section {} is not one that Frazil emits", id));
    }
  }
  Result<void> Finish(const ByteReader& in) {
    if (bodies_ != module_.functions.size()) return in.Bad("functions and bodies differ in number");
    for (const ModuleView::Export& entry : module_.exports) {
      bool known = entry.kind == 0   ? entry.index < module_.functions.size()
                   : entry.kind == 2 ? entry.index < module_.memories
                                     : entry.index < module_.globals.size();
      if (!known) return in.Bad("export of something that is not there");
    }
    if (!module_.data.empty() && !module_.memory_pages) return in.Bad("data without a memory");
    return {};
  }

 private:
  Result<void> Types(ByteReader& in) {
    uint32_t count = TRY(in.Count());
    for (uint32_t i = 0; i < count; ++i) {
      if (TRY(in.Byte()) != 0x60) return in.Bad("unknown form of type");
      FuncType type;
      type.params = TRY(ReadValTypes(in));
      type.results = TRY(ReadValTypes(in));
      module_.types.push_back(std::move(type));
    }
    return {};
  }
  Result<void> Functions(ByteReader& in) {
    uint32_t count = TRY(in.Count());
    for (uint32_t i = 0; i < count; ++i) {
      ModuleView::Function function;
      function.type = TRY(in.U32());
      if (function.type >= module_.types.size()) return in.Bad("unknown function type");
      module_.functions.push_back(std::move(function));
    }
    return {};
  }
  Result<void> Memory(ByteReader& in) {
    // A copy that is judged has one more, for its marks.
    module_.memories = TRY(in.U32());
    if (module_.memories != 1 && module_.memories != 2) return in.Bad("one memory expected");
    for (uint32_t i = 0; i < module_.memories; ++i) {
      uint8_t flags = TRY(in.Byte());
      if (flags > 1) return in.Bad("unknown kind of memory");
      uint32_t pages = TRY(in.U32());
      std::optional<uint32_t> maximum;
      if (flags == 1) maximum = TRY(in.U32());
      if (pages > 65536) return in.Bad("memory is too large");
      if (i > 0) continue;
      module_.memory_pages = pages;
      module_.memory_maximum = maximum;
    }
    return {};
  }
  Result<uint64_t> Constant(ByteReader& in, ValType type) {
    uint8_t op = TRY(in.Byte());
    uint64_t bits = 0;
    if (type == ValType::I32 && op == 0x41)
      bits = static_cast<uint32_t>(TRY(in.S32()));
    else if (type == ValType::I64 && op == 0x42)
      bits = static_cast<uint64_t>(TRY(in.S64()));
    else if (type == ValType::F32 && op == 0x43)
      bits = TRY(in.Fixed(4));
    else if (type == ValType::F64 && op == 0x44)
      bits = TRY(in.Fixed(8));
    else
      return in.Bad("constant of the declared type expected");
    if (TRY(in.Byte()) != 0x0b) return in.Bad("end of constant expected");
    return bits;
  }
  Result<void> Globals(ByteReader& in) {
    uint32_t count = TRY(in.Count());
    for (uint32_t i = 0; i < count; ++i) {
      ModuleView::Global global{};
      global.type = TRY(ReadValType(in));
      uint8_t is_mutable = TRY(in.Byte());
      if (is_mutable > 1) return in.Bad("unknown mutability");
      global.is_mutable = is_mutable == 1;
      global.initial = TRY(Constant(in, global.type));
      module_.globals.push_back(global);
    }
    return {};
  }
  Result<void> Exports(ByteReader& in) {
    uint32_t count = TRY(in.Count());
    for (uint32_t i = 0; i < count; ++i) {
      ModuleView::Export entry;
      entry.name = TRY(in.Name());
      entry.kind = TRY(in.Byte());
      if (entry.kind != 0 && entry.kind != 2 && entry.kind != 3)
        return in.Bad("unknown kind of export");
      entry.index = TRY(in.U32());
      module_.exports.push_back(entry);
    }
    return {};
  }
  Result<void> Code(ByteReader& in) {
    uint32_t count = TRY(in.Count());
    if (count != module_.functions.size()) return in.Bad("functions and bodies differ in number");
    for (ModuleView::Function& function : module_.functions) {
      uint32_t size = TRY(in.U32());
      size_t start = in.offset();
      ByteReader body(TRY(in.Take(size)), start);
      uint64_t locals = module_.types[function.type].params.size();
      uint32_t runs = TRY(body.Count());
      for (uint32_t i = 0; i < runs; ++i) {
        uint32_t run = TRY(body.U32());
        locals += run;
        if (locals > MaxLocals) return body.Bad("too many locals");
        function.locals.emplace_back(run, TRY(ReadValType(body)));
      }
      function.local_count = static_cast<uint32_t>(locals);
      function.offset = body.offset();
      function.code = TRY(body.Take(body.remaining()));
      if (function.code.empty()) return body.Bad("body without an end");
    }
    bodies_ = count;
    return {};
  }
  Result<void> Data(ByteReader& in) {
    uint32_t count = TRY(in.Count());
    for (uint32_t i = 0; i < count; ++i) {
      if (TRY(in.U32()) != 0) return in.Bad("unknown kind of data");
      ModuleView::Data data;
      data.address = static_cast<uint32_t>(TRY(Constant(in, ValType::I32)));
      uint32_t size = TRY(in.U32());
      data.bytes = TRY(in.Take(size));
      module_.data.push_back(data);
    }
    return {};
  }
  // Only function names matter; any other custom section is skipped.
  Result<void> Custom(ByteReader& in) {
    if (TRY(in.Name()) == "name") {
      while (!in.at_end()) {
        uint8_t id = TRY(in.Byte());
        uint32_t size = TRY(in.U32());
        size_t start = in.offset();
        ByteReader names(TRY(in.Take(size)), start);
        if (id != 1) continue;
        uint32_t count = TRY(names.Count());
        for (uint32_t i = 0; i < count; ++i) {
          uint32_t index = TRY(names.U32());
          std::string_view name = TRY(names.Name());
          if (index >= module_.functions.size()) return names.Bad("name of an unknown function");
          module_.functions[index].name = name;
        }
      }
      return {};
    }
    TRY(in.Take(in.remaining()));
    return {};
  }

  ModuleView& module_;
  size_t bodies_ = 0;
};

Result<void> ReadBlockType(ByteReader& reader, const ModuleView& module, Instruction& out) {
  int64_t type = TRY(reader.S33());
  if (type >= 0) {
    if (static_cast<uint64_t>(type) >= module.types.size()) return reader.Bad("unknown block type");
    out.block_type = static_cast<uint32_t>(type);
    return {};
  }
  constexpr int64_t NoResult = -64;
  if (type == NoResult) return {};
  if (type < -4) return reader.Bad("unknown block type");
  out.block_result = static_cast<ValType>(type & 0x7f);
  return {};
}

Result<uint64_t> ReadIndex(ByteReader& reader, uint64_t limit, std::string_view what) {
  uint32_t index = TRY(reader.U32());
  if (index >= limit) return reader.Bad(what);
  return index;
}

}  // namespace

Result<ModuleView> ReadModule(std::string_view bytes) {
  ByteReader in(bytes);
  std::string_view magic = TRY(in.Take(8));
  if (magic != std::string_view("\0asm\1\0\0\0", 8))
    return ByteReader(bytes).Bad("not a WASM module of version 1");
  ModuleView module;
  SectionReader sections(module);
  int last = 0;
  while (!in.at_end()) {
    uint8_t id = TRY(in.Byte());
    if (id != 0 && id <= last) return in.Bad("section out of order");
    if (id != 0) last = id;
    uint32_t size = TRY(in.U32());
    size_t start = in.offset();
    ByteReader section(TRY(in.Take(size)), start);
    TRY_VOID(sections.Read(id, section));
    if (!section.at_end()) return section.Bad("section is longer than its content");
  }
  TRY_VOID(sections.Finish(in));
  return module;
}

Result<Instruction> ReadInstruction(ByteReader& reader, const ModuleView& module,
                                    const ModuleView::Function& function, uint32_t depth) {
  Instruction out;
  uint16_t code = TRY(reader.Byte());
  if (code == 0xfc) {
    uint32_t second = TRY(reader.U32());
    if (second > 0xff) return reader.Bad("unknown instruction");
    code = static_cast<uint16_t>(0xfc00 | second);
  }
  out.info = FindOpcode(code);
  if (out.info == nullptr) return reader.Bad("unknown instruction");
  switch (out.info->immediate) {
    case Immediate::None: break;
    case Immediate::Block: TRY_VOID(ReadBlockType(reader, module, out)); break;
    case Immediate::Label: out.a = TRY(ReadIndex(reader, depth, "unknown label")); break;
    case Immediate::Table: {
      uint32_t count = TRY(reader.Count());
      for (uint32_t i = 0; i <= count; ++i)
        out.table.push_back(static_cast<uint32_t>(TRY(ReadIndex(reader, depth, "unknown label"))));
      break;
    }
    case Immediate::Func:
      out.a = TRY(ReadIndex(reader, module.functions.size(), "unknown function"));
      break;
    case Immediate::Local:
      out.a = TRY(ReadIndex(reader, function.local_count, "unknown local"));
      break;
    case Immediate::Global:
      out.a = TRY(ReadIndex(reader, module.globals.size(), "unknown global"));
      break;
    case Immediate::MemArg:
      out.a = TRY(ReadIndex(reader, 4, "alignment is too large"));
      out.b = TRY(reader.U32());
      break;
    case Immediate::I32: out.a = static_cast<uint32_t>(TRY(reader.S32())); break;
    case Immediate::I64: out.a = static_cast<uint64_t>(TRY(reader.S64())); break;
    case Immediate::F32: out.a = TRY(reader.Fixed(4)); break;
    case Immediate::F64: out.a = TRY(reader.Fixed(8)); break;
    case Immediate::Memory: TRY(ReadIndex(reader, 1, "unknown memory")); break;
    case Immediate::Copy:
      TRY(ReadIndex(reader, 1, "unknown memory"));
      TRY(ReadIndex(reader, 1, "unknown memory"));
      break;
  }
  return out;
}

}  // namespace frazil::targets::wasm
