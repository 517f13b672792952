// On-demand parts of a module. Helper bodies are built last: by then the globals they use are
// final.
#include "targets/wasm/emit/module_context.h"

#include "targets/wasm/helpers/helper_code.h"

namespace frazil::targets::wasm {
namespace {

struct HelperRow {
  std::string_view name;
  std::string_view params;
  std::string_view results;
  void (*build)(HelperCode&);
};

constexpr HelperRow HelperRows[] = {
#define FRAZIL_WASM_HELPER(name, text, params, results) {text, params, results, Build##name},
#include "targets/wasm/helpers/helpers.def"
#undef FRAZIL_WASM_HELPER
};

struct GlobalRow {
  std::string_view name;  // empty: not exported
  ValType type;
  int64_t initial;
};

constexpr int64_t AllOnes = -1;
constexpr GlobalRow GlobalRows[] = {
    {"trap", ValType::I64, 0},
    {"trap_index", ValType::I64, -1},
    {"parallel", ValType::I64, NoParallel},
    {"fuel", ValType::I64, AllOnes},
    {"depth", ValType::I64, 1000},
    {"scratch", ValType::I64, 1 << 30},
    {"", ValType::I64, 0},
    {"", ValType::I64, 0},
    {"heap", ValType::I32, 0},
    {"input", ValType::I32, 0},
    {"input_end", ValType::I32, 0},
    {"hint", ValType::I32, 0},
    {"hint_end", ValType::I32, 0},
    {"output", ValType::I32, 0},
    {"output_end", ValType::I32, 0},
    {"", ValType::I32, 0},
};
static_assert(std::size(GlobalRows) == GlobalCount);

std::vector<ValType> TypesOf(std::string_view letters) {
  std::vector<ValType> types;
  for (char c : letters)
    types.push_back(c == 'i'   ? ValType::I32
                    : c == 'l' ? ValType::I64
                    : c == 'f' ? ValType::F32
                               : ValType::F64);
  return types;
}

FuncType TypeOf(const HelperRow& row) { return {TypesOf(row.params), TypesOf(row.results)}; }

}  // namespace

std::string_view GlobalName(GlobalVar global) {
  return GlobalRows[static_cast<size_t>(global)].name;
}
ValType GlobalType(GlobalVar global) { return GlobalRows[static_cast<size_t>(global)].type; }

uint32_t ModuleContext::Use(Helper helper) {
  uint32_t& index = helper_index_[static_cast<size_t>(helper)];
  if (index == None) {
    const HelperRow& row = HelperRows[static_cast<size_t>(helper)];
    index = writer_.AddFunction(TypeOf(row), std::string(row.name));
    asked_.push_back(helper);
  }
  return index;
}

uint32_t ModuleContext::Use(GlobalVar global) {
  uint32_t& index = global_index_[static_cast<size_t>(global)];
  if (index == None) {
    const GlobalRow& row = GlobalRows[static_cast<size_t>(global)];
    index = writer_.AddGlobal(row.type, row.initial, std::string(row.name));
  }
  return index;
}

void ModuleContext::BuildHelpers() {
  // The list grows while it is walked: helpers ask for helpers.
  for (; built_ < asked_.size(); ++built_) {
    const Helper helper = asked_[built_];
    const HelperRow& row = HelperRows[static_cast<size_t>(helper)];
    HelperCode code(*this, TypeOf(row).params);
    row.build(code);
    writer_.SetBody(helper_index_[static_cast<size_t>(helper)], code.Finish());
  }
}

}  // namespace frazil::targets::wasm
