// Result<T> is how every fallible function of Frazil answers: a value, or an Error that says whose
// fault it is, under a stable id, at a place in the user's text. No exception crosses a folder's door.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace frazil {

// Whose fault an error is. The CLI's exit codes follow from this alone.
enum class ErrorClass : uint8_t {
  User,         // the user's program, text or arguments are wrong            -> exit 1
  Refuted,      // a candidate does not mean what its source means           -> exit 2
  Limit,        // a named limit was reached                                  -> exit 3
  Environment,  // a tool, library, file or device is missing or unusable    -> exit 4
  Internal,     // ours                                                      -> exit 70
};

// Every diagnostic there is, listed once in diagnostics.def.
enum class Diag : uint16_t {
#define FRAZIL_DIAG(name, id, error_class, title) name,
#include "base/diagnostics.def"
#undef FRAZIL_DIAG
};

// A place in a text, 1-based; line 0 means "no place".
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Error {
  Diag diag;
  std::string message;
  Location location = {};
  std::string file = {};
  std::string hint = {};

  // "file:3:14: error FRZ0104: message (hint)"; the parts that are absent are left out.
  std::string ToString() const;
};

const char* DiagId(Diag diag);     // "FRZ0104"
const char* DiagTitle(Diag diag);  // a short name of the kind of mistake
ErrorClass ClassOf(Diag diag);
const char* ErrorClassName(ErrorClass error_class);
int ExitCodeOf(ErrorClass error_class);

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> Fail(Diag diag, std::string message, Location location = {}) {
  return std::unexpected(Error{diag, std::move(message), location});
}

}  // namespace frazil

// TRY(expr): the value of expr, or return its error from the enclosing function.
// A statement expression, as in Serenity: both compilers of record have it.
#define TRY(...)                                                   \
  ({                                                               \
    auto frazil_try_result = (__VA_ARGS__);                        \
    if (!frazil_try_result) [[unlikely]]                           \
      return std::unexpected(std::move(frazil_try_result.error())); \
    std::move(*frazil_try_result);                                 \
  })

// The same for Result<void>.
#define TRY_VOID(...)                                               \
  do {                                                              \
    auto frazil_try_result = (__VA_ARGS__);                         \
    if (!frazil_try_result) [[unlikely]]                            \
      return std::unexpected(std::move(frazil_try_result.error())); \
  } while (0)
