// Canonical bytes and digests. Ops are written by mnemonic and types by name, so that a row added to ops.def
// later does not move anybody's digest.
#include "ir/digest.h"

#include "base/sha256.h"
#include "ir/lower/prelude.h"

namespace frazil::ir {
namespace {

class Writer {
 public:
  Writer(const Program& program, bool holes) : program_(program), holes_(holes) {}

  std::string Run() {
    Number(program_.data.size());
    for (const Data& data : program_.data) {
      Text(ScalarOrBufferName(data.element));
      Number(data.words.size());
      for (uint64_t word : data.words) Number(word);
    }
    Number(program_.functions.size());
    for (const Function& function : program_.functions) WriteFunction(function);
    return std::move(out_);
  }

 private:
  void Number(uint64_t value) {
    for (; value >= 128; value >>= 7) out_ += static_cast<char>(value | 128);
    out_ += static_cast<char>(value);
  }
  void Text(std::string_view text) {
    Number(text.size());
    out_ += text;
  }

  void WriteType(const Function& function, Type type) {
    Text(ScalarOrBufferName(type));
    out_ += static_cast<char>(type.form);
    if (!type.is_tensor()) return;
    const Shape& shape = function.shape(type);
    Number(shape.size());
    for (Dim dim : shape) Number(static_cast<uint64_t>(dim.value));
  }

  void WriteFunction(const Function& function) {
    Number(function.results.size());
    for (Type type : function.results) WriteType(function, type);
    numbers_.assign(function.values.size(), 0);
    next_ = 0;
    WriteRegion(function, function.region(function.body));
  }

  void WriteRegion(const Function& function, const Region& region) {
    Number(region.params.count);
    for (uint32_t i = 0; i < region.params.count; ++i) {
      numbers_[region.params.begin + i] = next_++;
      WriteType(function, function.type(Function::param_of(region, i)));
    }
    Number(region.insts.size());
    for (InstId id : region.insts) WriteInst(function, function.inst(id));
  }

  void WriteInst(const Function& function, const Inst& inst) {
    Text(Info(inst.op).mnemonic);
    if (inst.source_op) {
      Text(" as ");
      Text(Info(*inst.source_op).mnemonic);
    }
    WriteType(function, inst.type);
    Number(inst.operands.count);
    for (ValueId operand : function.operands_of(inst)) Number(numbers_[operand.index]);
    if (holes_ && inst.op == Op::Const) {
      out_ += '?';
    } else {
      Number(inst.attributes.count);
      for (uint64_t word : function.words_of(inst)) Number(word);
    }
    Number(inst.results.count);
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      numbers_[inst.results.begin + i] = next_++;
      WriteType(function, function.type(Function::result_of(inst, i)));
    }
    Number(inst.regions.count);
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      WriteRegion(function, function.region(Function::region_of(inst, i)));
  }

  const Program& program_;
  bool holes_;
  std::string out_;
  std::vector<uint64_t> numbers_;
  uint64_t next_ = 0;
};

std::string Digest(std::string_view kind, std::string_view canonical_bytes) {
  std::string bytes(kind);
  bytes += std::to_string(IrVersion) + " ";
  bytes += PreludeDigest();
  bytes += ' ';
  bytes += canonical_bytes;
  return Sha256Hex(bytes);
}

}  // namespace

std::string CanonicalBytes(const Program& canonical, bool constants_as_holes) {
  return Writer(canonical, constants_as_holes).Run();
}

std::string ExactDigestOfBytes(std::string_view canonical_bytes) {
  return Digest("frazil exact ", canonical_bytes);
}
std::string ShapeDigestOfBytes(std::string_view canonical_bytes) {
  return Digest("frazil shape ", canonical_bytes);
}
std::string ExactDigest(const Program& program) {
  return ExactDigestOfBytes(CanonicalBytes(Canonicalize(program)));
}
std::string ShapeDigest(const Program& program) {
  return ShapeDigestOfBytes(CanonicalBytes(Canonicalize(program), true));
}
std::string ShortDigest(const std::string& digest) { return digest.substr(0, 12); }

}  // namespace frazil::ir
