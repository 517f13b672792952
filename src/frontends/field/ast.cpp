// Small helpers of the tree.
#include "frontends/field/ast.h"

namespace frazil::frontends::field {

std::string Path::ToString() const {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += '.';
    text += part;
  }
  return text;
}

}  // namespace frazil::frontends::field
