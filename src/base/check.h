// CHECK: a broken invariant of ours. One handler, set by the program that hosts us (the CLI exits
// with 70 and a reproducer line); without one it traps. Libraries never print, exit or abort otherwise.
#pragma once

namespace frazil {

using CheckHandler = void (*)(const char* file, int line, const char* condition);
void SetCheckHandler(CheckHandler handler);
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace frazil

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) [[unlikely]]                                              \
      ::frazil::CheckFailed(__FILE_NAME__, __LINE__, #condition);               \
  } while (0)

// g++ before 12 lacks __FILE_NAME__; both compilers of record have it.
#ifdef NDEBUG
#define DCHECK(condition) ((void)0)
#else
#define DCHECK(condition) CHECK(condition)
#endif
