// The sections of a module, filled in any order and written in theirs. What is not asked for
// (memory, globals, data, names) takes no byte.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "targets/wasm/module/opcode.h"

namespace frazil::targets::wasm {

struct FuncType {
  std::vector<ValType> params;
  std::vector<ValType> results;
  friend auto operator<=>(const FuncType&, const FuncType&) = default;
};

class ModuleWriter {
 public:
  // Functions get their index at once and their body (Code::Finish) later.
  uint32_t AddFunction(const FuncType& type, std::string name);
  void SetBody(uint32_t function, std::string body) { functions_[function].body = std::move(body); }
  void ExportFunction(std::string name, uint32_t function);
  uint32_t AddGlobal(ValType type, int64_t initial, std::string export_name);
  void SetInitial(uint32_t global, int64_t initial) { globals_[global].initial = initial; }
  // Bytes at a fixed address; the memory is made large enough for `reserved_bytes`.
  void AddData(uint32_t address, std::string bytes) {
    data_.push_back({address, std::move(bytes)});
  }
  void NeedMemory(uint64_t reserved_bytes);

  std::string Finish() const;

 private:
  struct Function {
    uint32_t type;
    std::string name;
    std::string body;
  };
  struct Global {
    ValType type;
    int64_t initial;
    std::string export_name;
  };
  struct Data {
    uint32_t address;
    std::string bytes;
  };
  std::string Exports() const;
  std::string Names() const;
  std::string GlobalSection() const;
  std::string DataSection() const;

  std::map<FuncType, uint32_t> type_index_;
  std::vector<FuncType> types_;
  std::vector<Function> functions_;
  std::vector<std::pair<std::string, uint32_t>> function_exports_;
  std::vector<Global> globals_;
  std::vector<Data> data_;
  bool has_memory_ = false;
  uint64_t memory_bytes_ = 0;
};

}  // namespace frazil::targets::wasm
