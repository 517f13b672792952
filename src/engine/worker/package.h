// Where an installed Frazil lies, told to the library by whoever includes its headers: a static library cannot know it,
// but CMake's find_package does, and gives every user of the package this definition.
#pragma once

namespace frazil::engine {

// The folder of programs that only Frazil starts; FindWorker looks there. Always true.
bool NotePackage(const char* libexec);

#ifdef FRAZIL_PACKAGE_LIBEXEC
inline const bool package_is_noted = NotePackage(FRAZIL_PACKAGE_LIBEXEC);
#endif

}  // namespace frazil::engine
