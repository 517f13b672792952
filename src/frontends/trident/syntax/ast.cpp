// Small helpers of the tree.
#include "frontends/trident/syntax/ast.h"

namespace frazil::frontends::trident {

std::string Path::ToString() const {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += '.';
    text += part;
  }
  return text;
}

}  // namespace frazil::frontends::trident
