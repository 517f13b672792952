// The `.frzb` file: a header with a table of sections, then the sections, each at a multiple of 8. Loading checks the
// header against the size and the checksum, points spans into the bytes, checks every row, and verifies the code; no
// byte is copied or changed. Seal makes such bytes and loads them by the same way, so that there is one judge.
#include "machines/simt/module.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/sha256.h"
#include "machines/simt/frzb.h"
#include "machines/simt/verify.h"
#include "machines/simt/verify_fields.h"

namespace frazil::machines::simt {
namespace {

std::unexpected<Error> Bad(std::string what) {
  return Fail(Diag::BadArtifact, "this is no .frzb module: " + what);
}

std::array<uint8_t, 32> Checksum(std::string_view bytes) {
  Sha256 sha;
  sha.Update(bytes.substr(0, offsetof(FileHeader, checksum)));
  sha.Update(bytes.substr(sizeof(FileHeader)));
  return sha.Finish();
}

Result<void> CheckHeader(std::string_view bytes, const FileHeader& header) {
  if (std::memcmp(header.magic, Magic, sizeof Magic) != 0)
    return Bad("it does not begin with FRZB");
  if (header.version != FormatVersion)
    return Bad(
        fmt::format("its version is {}, this reader knows {}", header.version, FormatVersion));
  if (header.size != bytes.size())
    return Bad(fmt::format("it says {} bytes and has {}", header.size, bytes.size()));
  if ((header.features & ~AllFeatures) != 0)
    return Bad(fmt::format("it uses features that this reader lacks: {}",
                           FeatureNames(header.features & ~AllFeatures)));
  if (header.reserved != 0) return Bad("a reserved field is not 0");
  if (header.mode > 1) return Bad(fmt::format("mode {} does not exist", header.mode));
  uint64_t next = sizeof(FileHeader);
  for (size_t i = 0; i < SectionCount; ++i) {
    const SectionRow& row = header.sections[i];
    if (row.offset != next)
      return Bad(
          fmt::format("section {} does not begin where the one before ends", SectionNames[i]));
    if (row.count > (bytes.size() - next) / SectionSizes[i])
      return Bad(fmt::format("section {} does not fit", SectionNames[i]));
    uint64_t used = row.count * SectionSizes[i], padded = (used + 7) & ~uint64_t{7};
    if (padded > bytes.size() - next)
      return Bad(fmt::format("section {} does not fit", SectionNames[i]));
    for (uint64_t b = used; b < padded; ++b)
      if (bytes[next + b] != 0)
        return Bad(fmt::format("padding of section {} is not 0", SectionNames[i]));
    next += padded;
  }
  if (next != bytes.size()) return Bad("bytes are left over behind its sections");
  if (std::memcmp(Checksum(bytes).data(), header.checksum, 32) != 0)
    return Bad("its checksum does not match");
  return {};
}

template <typename T>
std::span<const T> Section(std::string_view bytes, const FileHeader& header, SectionKind kind) {
  const SectionRow& row = header.sections[static_cast<size_t>(kind)];
  return {reinterpret_cast<const T*>(bytes.data() + row.offset), static_cast<size_t>(row.count)};
}

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '-';
}

bool Fits(uint64_t begin, uint64_t count, uint64_t size) {
  return begin <= size && count <= size - begin;
}

// Names lie one behind the other, in the order of their rows: there is one way to write a module.
Result<void> CheckName(const Module& module, uint64_t& next, uint64_t offset, uint64_t size,
                       const char* what) {
  if (offset != next || !Fits(offset, size, module.names.size()))
    return Bad(fmt::format("the name of {} lies elsewhere", what));
  next += size;
  std::string_view name = module.names.substr(offset, size);
  bool plain = !name.empty() && std::ranges::all_of(name, IsNameChar);
  return plain ? Result<void>{} : Bad(fmt::format("the name of {} is not a plain word", what));
}

bool IsAccess(uint8_t access) { return access >= 1 && access <= 3; }

Result<void> CheckParams(const Module& module, uint64_t& names) {
  uint64_t extents = 0, buffers = 0;
  for (const ParamRow& row : module.params) {
    TRY_VOID(CheckName(module, names, row.name_offset, row.name_size, "a parameter"));
    if (!IsType(static_cast<uint8_t>(row.type))) return Bad("a parameter's type does not exist");
    if (row.is_buffer > 1 || !IsAccess(static_cast<uint8_t>(row.access)))
      return Bad("a parameter's row is malformed");
    if (!row.is_buffer && row.access != ir::Access::InOut)
      return Bad("a scalar parameter has an access");
    if (static_cast<uint8_t>(row.role) > static_cast<uint8_t>(ir::ParamRole::BlockZ))
      return Bad("a parameter's role does not exist");
    if ((row.role == ir::ParamRole::Buffer) != (row.is_buffer != 0))
      return Bad("a parameter's role does not fit its type");
    bool integer = ir::IsFixedInt(row.type);
    if (ir::IsLaunchRole(row.role) && row.type != Type::Index)
      return Bad("a launch parameter is not idx");
    if (row.role == ir::ParamRole::Extent && !integer) return Bad("an extent is no integer");
    if (row.extents_begin != extents || row.extents_count > module.extents.size() - extents)
      return Bad("a parameter's extents lie outside");
    if (row.extents_count != 0 && row.role != ir::ParamRole::Extent)
      return Bad("a parameter that is no extent has extents");
    extents += row.extents_count;
    if (row.buffer != (row.is_buffer ? buffers : 0))
      return Bad("a parameter's buffer number is wrong");
    buffers += row.is_buffer;
  }
  if (extents != module.extents.size()) return Bad("extents are left over");
  for (uint32_t extent : module.extents)
    if (extent >= module.params.size() || !module.params[extent].is_buffer)
      return Bad("an extent names no buffer parameter");
  return {};
}

Result<void> CheckBuffers(const Module& module) {
  if (module.buffers.size() > MaxBuffers) return Bad("it has more than 256 buffers");
  size_t next = 0;
  for (uint32_t p = 0; p < module.params.size(); ++p) {
    const ParamRow& param = module.params[p];
    if (!param.is_buffer) continue;
    if (next == module.buffers.size()) return Bad("a buffer's row is missing");
    const BufferRow& row = module.buffers[next++];
    if (row.is_scratch != 0 || row.param != p || row.type != param.type ||
        row.access != param.access || row.reserved != 0)
      return Bad("a buffer's row does not fit its parameter");
  }
  for (; next < module.buffers.size(); ++next) {
    const BufferRow& row = module.buffers[next];
    if (row.is_scratch != 1 || row.param != 0 || !IsType(static_cast<uint8_t>(row.type)) ||
        row.access != ir::Access::InOut || row.reserved != 0)
      return Bad("a scratch buffer's row is malformed");
  }
  return {};
}

Result<void> CheckTables(const Module& module, uint64_t& names) {
  uint64_t words = 0;
  for (const TableRow& row : module.tables) {
    TRY_VOID(CheckName(module, names, row.name_offset, row.name_size, "a table"));
    if (!IsType(static_cast<uint8_t>(row.type))) return Bad("a table's type does not exist");
    for (uint8_t byte : row.reserved)
      if (byte != 0) return Bad("a table's row is malformed");
    if (row.begin != words || row.length > module.words.size() - words)
      return Bad("a table lies outside");
    words += row.length;
    for (uint64_t word : module.words.subspan(row.begin, row.length))
      if (!IsCanonical(row.type, word))
        return Bad(fmt::format("a table holds {:#x}, which is no {}", word, TypeName(row.type)));
  }
  return words == module.words.size() ? Result<void>{} : Bad("table words are left over");
}

Result<void> CheckRows(const Module& module) {
  uint64_t names = 0;
  TRY_VOID(CheckName(module, names, 0, module.name.size(), "the kernel"));
  TRY_VOID(CheckParams(module, names));
  TRY_VOID(CheckBuffers(module));
  TRY_VOID(CheckTables(module, names));
  if (names != module.names.size()) return Bad("names are left over");
  for (Type type : module.results)
    if (!IsType(static_cast<uint8_t>(type))) return Bad("a result's type does not exist");
  if (module.mode == Mode::Launch && !module.results.empty()) return Bad("a launch has no results");
  uint64_t last = 0;
  for (size_t i = 0; i < module.lines.size(); ++i) {
    uint64_t instruction = module.lines[i].instruction;
    if (instruction >= module.code.size() || (i > 0 && instruction <= last))
      return Bad("its line table is out of order");
    last = instruction;
  }
  return {};
}

Result<Module> View(std::shared_ptr<const void> storage, std::string_view bytes) {
  if (bytes.size() < sizeof(FileHeader))
    return Bad(fmt::format("{} bytes are less than a header", bytes.size()));
  const FileHeader& header = *reinterpret_cast<const FileHeader*>(bytes.data());
  TRY_VOID(CheckHeader(bytes, header));
  Module module;
  module.storage = std::move(storage);
  module.bytes = bytes;
  module.mode = static_cast<Mode>(header.mode);
  module.features = header.features;
  std::span<const char> names = Section<char>(bytes, header, SectionKind::Names);
  module.names = {names.data(), names.size()};
  if (header.name_size > names.size()) return Bad("its name lies outside");
  module.name = module.names.substr(0, header.name_size);
  module.params = Section<ParamRow>(bytes, header, SectionKind::Params);
  module.buffers = Section<BufferRow>(bytes, header, SectionKind::Buffers);
  module.results = Section<Type>(bytes, header, SectionKind::Results);
  module.code = Section<Instruction>(bytes, header, SectionKind::Code);
  module.tables = Section<TableRow>(bytes, header, SectionKind::Tables);
  module.words = Section<uint64_t>(bytes, header, SectionKind::Words);
  module.extents = Section<uint32_t>(bytes, header, SectionKind::Extents);
  module.lines = Section<LineRow>(bytes, header, SectionKind::Lines);
  TRY_VOID(CheckRows(module));
  TRY_VOID(Verify(module));
  if (module.features != FeaturesOf(module.mode, module.code))
    return Bad("its feature bits are not those of its code");
  return module;
}

// A mapping or an aligned copy, ended with the last view of it.
struct Mapping {
  void* address;
  size_t size;
  ~Mapping() { munmap(address, size); }
};

}  // namespace

Result<Module> LoadModule(std::shared_ptr<const void> storage, std::string_view bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0) return LoadModule(bytes);
  return View(std::move(storage), bytes);
}

Result<Module> LoadModule(std::string_view bytes) {
  std::shared_ptr<uint64_t[]> copy =
      std::make_shared_for_overwrite<uint64_t[]>((bytes.size() + 7) / 8 + 1);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  std::string_view view(reinterpret_cast<const char*>(copy.get()), bytes.size());
  return View(std::move(copy), view);
}

Result<MappedModule> Map(const std::string& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  auto unreadable = [&](std::string_view why) {
    if (file >= 0) close(file);
    Error error{Diag::FileUnreadable, fmt::format("'{}' cannot be read: {}", path, why)};
    return std::unexpected(error);
  };
  if (file < 0) return unreadable(std::strerror(errno));
  struct stat status;
  if (fstat(file, &status) != 0) return unreadable(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return unreadable("it is no file");
  if (status.st_size == 0) return unreadable("it is empty");
  size_t size = static_cast<size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (address == MAP_FAILED) return unreadable(std::strerror(errno));
  close(file);
  Result<Module> module =
      View(std::make_shared<Mapping>(address, size), {static_cast<const char*>(address), size});
  if (!module) module.error().file = path;
  return module;
}

namespace {

class Layout {
 public:
  explicit Layout(const ModuleParts& parts) : parts_(parts) {}

  Result<Module> Run() {
    names_ = Plain(parts_.name);
    MakeParams();
    for (const ModuleParts::Table& table : parts_.tables) {
      TableRow row{Name(table.name), static_cast<uint32_t>(Plain(table.name).size()),
                   table.type,       {},
                   words_.size(),    table.words.size()};
      tables_.push_back(row);
      words_.insert(words_.end(), table.words.begin(), table.words.end());
    }
    if (parts_.code.size() > MaxInstructions || words_.size() > (1u << 28))
      return Fail(Diag::BadIsaProgram, "the module is too large");
    uint64_t size = sizeof(FileHeader);
    Place(SectionKind::Names, names_.size(), size);
    Place(SectionKind::Params, params_.size(), size);
    Place(SectionKind::Buffers, buffers_.size(), size);
    Place(SectionKind::Results, parts_.results.size(), size);
    Place(SectionKind::Code, parts_.code.size(), size);
    Place(SectionKind::Tables, tables_.size(), size);
    Place(SectionKind::Words, words_.size(), size);
    Place(SectionKind::Extents, extents_.size(), size);
    Place(SectionKind::Lines, parts_.lines.size(), size);
    return Write(size);
  }

 private:
  uint32_t Name(const std::string& name) {
    uint32_t offset = static_cast<uint32_t>(names_.size());
    names_ += Plain(name);
    return offset;
  }

  // Names are for people; what a file cannot write becomes '_'.
  static std::string Plain(std::string name) {
    if (name.empty()) name = "_";
    for (char& c : name)
      if (!IsNameChar(c)) c = '_';
    return name;
  }

  void MakeParams() {
    for (uint32_t p = 0; p < parts_.params.size(); ++p) {
      const ModuleParts::Param& param = parts_.params[p];
      ParamRow row{};
      row.name_offset = Name(param.name);
      row.name_size = static_cast<uint32_t>(names_.size()) - row.name_offset;
      row.extents_begin = static_cast<uint32_t>(extents_.size());
      row.extents_count = static_cast<uint32_t>(param.extents.size());
      row.type = param.type;
      row.is_buffer = param.is_buffer;
      row.access = param.access;
      row.role = param.role;
      row.buffer = param.is_buffer ? static_cast<uint32_t>(buffers_.size()) : 0;
      extents_.insert(extents_.end(), param.extents.begin(), param.extents.end());
      params_.push_back(row);
      if (param.is_buffer) buffers_.push_back({param.type, 0, param.access, 0, p});
    }
    for (Type type : parts_.scratch) buffers_.push_back({type, 1, ir::Access::InOut, 0, 0});
  }

  void Place(SectionKind kind, size_t count, uint64_t& at) {
    header_.sections[static_cast<size_t>(kind)] = {at, count};
    at += (count * SectionSizes[static_cast<size_t>(kind)] + 7) & ~uint64_t{7};
  }

  template <typename T>
  void Copy(char* bytes, SectionKind kind, const T& values) {
    if (values.empty()) return;
    std::memcpy(bytes + header_.sections[static_cast<size_t>(kind)].offset, values.data(),
                values.size() * sizeof(values[0]));
  }

  Result<Module> Write(uint64_t size) {
    std::memcpy(header_.magic, Magic, sizeof Magic);
    header_.version = FormatVersion;
    for (const Instruction& inst : parts_.code)
      if (static_cast<size_t>(inst.op) >= OpcodeCount)
        return Fail(Diag::BadIsaProgram, "an operation does not exist");
    header_.features = FeaturesOf(parts_.mode, parts_.code);
    header_.mode = static_cast<uint32_t>(parts_.mode);
    header_.name_size = static_cast<uint32_t>(Plain(parts_.name).size());
    header_.size = size;
    std::shared_ptr<uint64_t[]> storage = std::make_shared<uint64_t[]>(size / 8);
    char* bytes = reinterpret_cast<char*>(storage.get());
    Copy(bytes, SectionKind::Names, names_);
    Copy(bytes, SectionKind::Params, params_);
    Copy(bytes, SectionKind::Buffers, buffers_);
    Copy(bytes, SectionKind::Results, parts_.results);
    Copy(bytes, SectionKind::Code, parts_.code);
    Copy(bytes, SectionKind::Tables, tables_);
    Copy(bytes, SectionKind::Words, words_);
    Copy(bytes, SectionKind::Extents, extents_);
    Copy(bytes, SectionKind::Lines, parts_.lines);
    std::memcpy(bytes, &header_, sizeof header_);
    std::array<uint8_t, 32> checksum = Checksum({bytes, size});
    std::memcpy(bytes + offsetof(FileHeader, checksum), checksum.data(), checksum.size());
    return View(std::move(storage), {bytes, size});
  }

  const ModuleParts& parts_;
  FileHeader header_{};
  std::string names_;
  std::vector<ParamRow> params_;
  std::vector<BufferRow> buffers_;
  std::vector<TableRow> tables_;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> extents_;
};

}  // namespace

Result<Module> Seal(const ModuleParts& parts) { return Layout(parts).Run(); }

Location Module::location(uint32_t instruction) const {
  auto after =
      std::upper_bound(lines.begin(), lines.end(), instruction,
                       [](uint32_t at, const LineRow& row) { return at < row.instruction; });
  if (after == lines.begin()) return {};
  const LineRow& row = *(after - 1);
  return {row.line, row.column};
}

ir::KernelSignature Module::Signature() const {
  ir::KernelSignature signature{std::string(name), {}};
  for (uint32_t i = 0; i < params.size(); ++i) {
    const ParamRow& row = params[i];
    ir::Type type = ir::Type::Of(row.type);
    if (row.is_buffer) type = ir::Type::Buffer(type, row.access);
    std::span<const uint32_t> bounds = extents.subspan(row.extents_begin, row.extents_count);
    signature.params.push_back(
        {std::string(param_name(i)), type, row.role, {bounds.begin(), bounds.end()}});
  }
  return signature;
}

}  // namespace frazil::machines::simt
