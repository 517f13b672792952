#include "verify/wasm/marked.h"

#include <map>
#include <optional>

#include "exec/outcome.h"

namespace frazil::verify::wasm {
namespace {

constexpr char I32 = 0x7f, I64 = 0x7e;
constexpr size_t PageBytes = 65536;

class Text {
 public:
  Text& Op(uint16_t code) {
    bytes_.push_back(static_cast<char>(code));
    return *this;
  }
  Text& Op(uint16_t code, uint64_t index) {
    Op(code);
    AppendUnsigned(bytes_, index);
    return *this;
  }
  Text& Const32(size_t value) {
    Op(I32Const);
    AppendSigned(bytes_, static_cast<int32_t>(value));
    return *this;
  }
  Text& Const64(int64_t value) {
    Op(I64Const);
    AppendSigned(bytes_, value);
    return *this;
  }
  // An address in the memory of that number; alignment is a hint, and none is given.
  Text& Access(uint16_t code, uint32_t memory, uint64_t offset) {
    constexpr char NamesMemory = 0x40;
    Op(code);
    bytes_.push_back(memory == 0 ? 0 : NamesMemory);
    if (memory != 0) AppendUnsigned(bytes_, memory);
    AppendUnsigned(bytes_, offset);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string Sized(const std::string& content) {
  std::string out;
  AppendUnsigned(out, content.size());
  return out + content;
}

class Marker {
 public:
  Marker(std::string_view bytes, const Module& module, const Flow& flow)
      : bytes_(bytes), module_(module), flow_(flow), layout_(flow), memory_(module.memories) {}

  Result<std::string> Make() {
    PlaceMarks();
    std::string out(bytes_.substr(0, 8));
    bool has_memory = false, has_all = false;
    for (const Section& section : module_.sections) {
      if (!has_memory && section.id > Memories) {
        AppendSection(out, Memories, std::string(1, '\1') + Limits());
        has_memory = true;
      }
      const std::string_view content = bytes_.substr(section.begin, section.end - section.begin);
      switch (section.id) {
        case Types:
          AppendSection(out, section.id, TRY(Longer(section, NoteCount, NoteTypes())));
          break;
        case Functions:
          AppendSection(out, section.id, TRY(Longer(section, NoteCount, NoteDeclarations())));
          break;
        case Memories:
          AppendSection(out, section.id, TRY(Longer(section, 1, Limits())));
          has_memory = true;
          break;
        case Exports: AppendSection(out, section.id, TRY(Longer(section, 1, MarksExport()))); break;
        case Code:
          AppendSection(out, Code, Bodies());
          has_all = has_memory;
          break;
        default: AppendSection(out, section.id, std::string(content));
      }
    }
    if (!has_all) return Fail(Diag::Unsupported, "it has no code");
    return out;
  }

 private:
  enum Note : uint8_t { Way, Two64, Two32Signed, Two32Unsigned };
  static constexpr uint32_t NoteCount = 4;
  uint64_t Number(Note note) const { return module_.functions.size() + note; }

  static void AppendSection(std::string& out, uint8_t id, const std::string& content) {
    out.push_back(static_cast<char>(id));
    out += Sized(content);
  }
  Result<std::string> Longer(const Section& section, uint32_t more,
                             const std::string& added) const {
    const ListHead head = TRY(ReadListHead(bytes_, section));
    std::string out;
    AppendUnsigned(out, uint64_t{head.count} + more);
    out += bytes_.substr(head.begin, section.end - head.begin);
    return out + added;
  }

  std::string Limits() const {
    std::string out(1, '\0');
    AppendUnsigned(out, layout_.bytes() / PageBytes + 1);
    return out;
  }
  std::string MarksExport() const {
    constexpr char IsMemory = 2;
    std::string out = Sized(std::string(exec::MarksName));
    out.push_back(IsMemory);
    AppendUnsigned(out, memory_);
    return out;
  }

  // (condition, at), (a, b, at)
  static std::string NoteTypes() {
    return std::string{0x60, 2, I32, I32, 1, I32} +
           std::string{0x60, 3, I64, I64, I32, 2, I64, I64} +
           std::string{0x60, 3, I32, I32, I32, 2, I32, I32} +
           std::string{0x60, 3, I32, I32, I32, 2, I32, I32};
  }
  std::string NoteDeclarations() const {
    std::string out;
    for (uint32_t i = 0; i < NoteCount; ++i) AppendUnsigned(out, uint64_t{module_.types} + i);
    return out;
  }
  std::string NoteBodies() const {
    Text way;
    way.Op(LocalGet, 1).Op(LocalGet, 0).Op(I32Eqz).Op(I32Add).Const32(1);
    way.Access(I32Store8, memory_, 0).Op(LocalGet, 0).Op(End);
    constexpr uint16_t NoResult = 0x40;
    Text two;  // local 3: how far the two are from each other
    two.Op(LocalGet, 0).Op(LocalGet, 1).Op(I64Sub);
    two.Op(LocalGet, 1).Op(LocalGet, 0).Op(I64Sub);
    two.Op(LocalGet, 0).Op(LocalGet, 1).Op(I64GtS).Op(Select).Op(LocalTee, 3);
    two.Op(LocalGet, 2).Access(I64Load, memory_, 16).Const64(1).Op(I64Sub);
    two.Op(I64LtU).Op(If).Op(NoResult);
    two.Op(LocalGet, 2).Op(LocalGet, 0).Access(I64Store, memory_, 0);
    two.Op(LocalGet, 2).Op(LocalGet, 1).Access(I64Store, memory_, 8);
    two.Op(LocalGet, 2).Op(LocalGet, 3).Const64(1).Op(I64Add).Access(I64Store, memory_, 16);
    two.Op(End).Op(LocalGet, 0).Op(LocalGet, 1).Op(End);
    const std::string none(1, '\0'), one{1, 1, I64};
    std::string out = Sized(none + way.bytes()) + Sized(one + two.bytes());
    for (const uint16_t extend : {I64ExtendI32S, I64ExtendI32U}) {
      Text narrow;
      narrow.Op(LocalGet, 0).Op(extend).Op(LocalGet, 1).Op(extend).Op(LocalGet, 2);
      narrow.Op(Call, Number(Two64)).Op(Drop).Op(Drop).Op(LocalGet, 0).Op(LocalGet, 1).Op(End);
      out += Sized(none + narrow.bytes());
    }
    return out;
  }

  // What is put before the instructions of these places.
  void PlaceMarks() {
    for (size_t i = 0; i < flow_.parts.blocks.size(); ++i)
      inserted_[flow_.parts.blocks[i].begin] +=
          Text().Const32(0).Const32(1).Access(I32Store8, memory_, layout_.BlockAt(i)).bytes();
    for (size_t i = 0; i < flow_.parts.branches.size(); ++i) {
      if (const std::optional<Compare>& compare = flow_.compares[i]) {
        const Note note = compare->bits == 64  ? Two64
                          : compare->is_signed ? Two32Signed
                                               : Two32Unsigned;
        inserted_[compare->place] +=
            Text().Const32(layout_.CompareAt(i)).Op(Call, Number(note)).bytes();
      }
      inserted_[flow_.parts.branches[i].place] +=
          Text().Const32(layout_.WayAt(i)).Op(Call, Number(Way)).bytes();
    }
  }

  std::string Bodies() const {
    std::string out;
    AppendUnsigned(out, module_.functions.size() + NoteCount);
    for (const Function& function : module_.functions) {
      std::string body;
      uint32_t at = function.begin;
      for (auto entry = inserted_.lower_bound(function.begin);
           entry != inserted_.end() && entry->first < function.end; ++entry) {
        body += bytes_.substr(at, entry->first - at);
        body += entry->second;
        at = entry->first;
      }
      out += Sized(body + std::string(bytes_.substr(at, function.end - at)));
    }
    return out + NoteBodies();
  }

  std::string_view bytes_;
  const Module& module_;
  const Flow& flow_;
  const MarkLayout layout_;
  const uint32_t memory_;  // the one of the marks
  std::map<uint32_t, std::string> inserted_;
};

}  // namespace

Result<std::string> MakeMarked(std::string_view bytes, const Module& module, const Flow& flow) {
  return Marker(bytes, module, flow).Make();
}

}  // namespace frazil::verify::wasm
