#include "base/result.h"

#include <array>
#include <cstddef>

namespace frazil {
namespace {

struct Row {
  const char* id;
  ErrorClass error_class;
  const char* title;
};

constexpr Row Rows[] = {
#define FRAZIL_DIAG(name, id, error_class, title) {id, ErrorClass::error_class, title},
#include "base/diagnostics.def"
#undef FRAZIL_DIAG
};

const Row& RowOf(Diag diag) { return Rows[static_cast<size_t>(diag)]; }

}  // namespace

const char* DiagId(Diag diag) { return RowOf(diag).id; }
const char* DiagTitle(Diag diag) { return RowOf(diag).title; }
ErrorClass ClassOf(Diag diag) { return RowOf(diag).error_class; }

const char* ErrorClassName(ErrorClass error_class) {
  constexpr std::array names = {"user", "refuted", "limit", "environment", "internal"};
  return names[static_cast<size_t>(error_class)];
}

int ExitCodeOf(ErrorClass error_class) {
  constexpr std::array codes = {1, 2, 3, 4, 70};
  return codes[static_cast<size_t>(error_class)];
}

std::string Error::ToString() const {
  std::string text = file;
  if (location.line != 0) {
    if (!text.empty()) text += ":";
    text += std::to_string(location.line) + ":" + std::to_string(location.column);
  }
  if (!text.empty()) text += ": ";
  text += "error ";
  text += DiagId(diag);
  text += ": " + message;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

}  // namespace frazil
