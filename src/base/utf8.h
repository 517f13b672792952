// Is a text UTF-8? Readers ask once, up front, so that messages can quote it safely.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil {

// Where the first byte stands that is not part of well-formed UTF-8 (shortest forms only, no surrogates).
std::optional<Location> FindBadUtf8(std::string_view text);
// The error for that byte, which it shows escaped. A file that is no text at all (a program, an array, an archive) is
// called what it is, whether or not its bytes happen to be UTF-8.
std::optional<Error> Utf8Error(std::string_view text);
// The text as a message may quote it: what a terminal would obey or hide (control characters, marks that change the
// direction of writing, marks of no width) and what is not UTF-8 stands there byte by byte, as \x1b.
std::string Printable(std::string_view text);
// At most `bytes` of a text, not cut inside of a character.
std::string_view CutUtf8(std::string_view text, size_t bytes);

}  // namespace frazil
