// Sections in the order of the specification. Names of functions are written only when there is
// more than one, so that a one-line program stays a one-line module.
#include "targets/wasm/module/module_writer.h"

#include <algorithm>

#include "targets/wasm/module/bytes.h"

namespace frazil::targets::wasm {
namespace {

constexpr uint64_t PageBytes = 65536;
enum SectionId : uint8_t {
  Custom,
  Types,
  Imports,
  Functions,
  Tables,
  Memories,
  Globals,
  ExportsId,
  Start,
  Elements,
  CodeId,
  DataId
};
enum ExportKind : uint8_t { FunctionExport = 0, MemoryExport = 2, GlobalExport = 3 };

void AppendSection(std::string& out, SectionId id, const std::string& content) {
  out.push_back(static_cast<char>(id));
  AppendUnsigned(out, content.size());
  out += content;
}

void AppendTypes(std::string& out, const std::vector<ValType>& types) {
  AppendUnsigned(out, types.size());
  for (ValType type : types) out.push_back(static_cast<char>(type));
}

void AppendExport(std::string& out, std::string_view name, ExportKind kind, uint32_t index) {
  AppendName(out, name);
  out.push_back(static_cast<char>(kind));
  AppendUnsigned(out, index);
}

}  // namespace

uint32_t ModuleWriter::AddFunction(const FuncType& type, std::string name) {
  auto [entry, is_new] = type_index_.try_emplace(type, static_cast<uint32_t>(types_.size()));
  if (is_new) types_.push_back(type);
  functions_.push_back({entry->second, std::move(name), {}});
  return static_cast<uint32_t>(functions_.size() - 1);
}

void ModuleWriter::ExportFunction(std::string name, uint32_t function) {
  function_exports_.emplace_back(std::move(name), function);
}

uint32_t ModuleWriter::AddGlobal(ValType type, int64_t initial, std::string export_name) {
  globals_.push_back({type, initial, std::move(export_name)});
  return static_cast<uint32_t>(globals_.size() - 1);
}

void ModuleWriter::NeedMemory(uint64_t reserved_bytes) {
  has_memory_ = true;
  memory_bytes_ = std::max(memory_bytes_, reserved_bytes);
}

std::string ModuleWriter::Exports() const {
  std::string out;
  size_t count = function_exports_.size() + (has_memory_ ? 1 : 0);
  for (const Global& global : globals_) count += global.export_name.empty() ? 0 : 1;
  AppendUnsigned(out, count);
  for (const auto& [name, function] : function_exports_)
    AppendExport(out, name, FunctionExport, function);
  if (has_memory_) AppendExport(out, "memory", MemoryExport, 0);
  for (uint32_t i = 0; i < globals_.size(); ++i)
    if (!globals_[i].export_name.empty())
      AppendExport(out, globals_[i].export_name, GlobalExport, i);
  return out;
}

std::string ModuleWriter::Names() const {
  std::string functions;
  AppendUnsigned(functions, functions_.size());
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    AppendUnsigned(functions, i);
    AppendName(functions, functions_[i].name);
  }
  constexpr uint8_t FunctionNames = 1;
  std::string out;
  AppendName(out, "name");
  out.push_back(FunctionNames);
  AppendUnsigned(out, functions.size());
  return out + functions;
}

std::string ModuleWriter::GlobalSection() const {
  std::string out;
  AppendUnsigned(out, globals_.size());
  for (const Global& global : globals_) {
    out.push_back(static_cast<char>(global.type));
    out.push_back(1);  // mutable
    bool narrow = global.type == ValType::I32;
    out.push_back(static_cast<char>(narrow ? Opcode::I32Const : Opcode::I64Const));
    AppendSigned(out, global.initial);
    out.push_back(static_cast<char>(Opcode::End));
  }
  return out;
}

std::string ModuleWriter::DataSection() const {
  std::string out;
  AppendUnsigned(out, data_.size());
  for (const Data& piece : data_) {
    out.push_back(0);  // active, memory 0
    out.push_back(static_cast<char>(Opcode::I32Const));
    AppendSigned(out, static_cast<int32_t>(piece.address));
    out.push_back(static_cast<char>(Opcode::End));
    AppendUnsigned(out, piece.bytes.size());
    out += piece.bytes;
  }
  return out;
}

std::string ModuleWriter::Finish() const {
  std::string out("\0asm\1\0\0\0", 8);

  std::string types;
  AppendUnsigned(types, types_.size());
  for (const FuncType& type : types_) {
    constexpr char FunctionForm = 0x60;
    types.push_back(FunctionForm);
    AppendTypes(types, type.params);
    AppendTypes(types, type.results);
  }
  AppendSection(out, Types, types);

  std::string functions;
  AppendUnsigned(functions, functions_.size());
  for (const Function& function : functions_) AppendUnsigned(functions, function.type);
  AppendSection(out, Functions, functions);

  if (has_memory_) {
    std::string memory("\1\0", 2);
    AppendUnsigned(memory, std::max<uint64_t>(1, (memory_bytes_ + PageBytes - 1) / PageBytes));
    AppendSection(out, Memories, memory);
  }

  if (!globals_.empty()) AppendSection(out, Globals, GlobalSection());
  AppendSection(out, ExportsId, Exports());

  std::string code;
  AppendUnsigned(code, functions_.size());
  for (const Function& function : functions_) {
    AppendUnsigned(code, function.body.size());
    code += function.body;
  }
  AppendSection(out, CodeId, code);

  if (!data_.empty()) AppendSection(out, DataId, DataSection());
  if (functions_.size() > 1) AppendSection(out, Custom, Names());
  return out;
}

}  // namespace frazil::targets::wasm
