#include "ir/program.h"

#include <algorithm>

namespace frazil::ir {

uint32_t Function::AddShape(const Shape& shape) {
  auto found = std::find(shapes.begin(), shapes.end(), shape);
  if (found != shapes.end()) return static_cast<uint32_t>(found - shapes.begin());
  shapes.push_back(shape);
  return static_cast<uint32_t>(shapes.size() - 1);
}

FuncId Program::FindFunction(std::string_view name) const {
  for (uint32_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == name) return FuncId(i);
  return FuncId();
}

DataId Program::FindData(std::string_view name) const {
  for (uint32_t i = 0; i < data.size(); ++i)
    if (data[i].name == name) return DataId(i);
  return DataId();
}

}  // namespace frazil::ir
