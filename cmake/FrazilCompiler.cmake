# What every file of ours is compiled with. ccache is used where it is installed and never needed.
include_guard()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS ON)  # TRY is a statement expression
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache must not mind so that it also serves files with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

# Every program carries a digest of what it was linked from: who made a stored form is known by it (base/build_id.h).
# Named here, because compilers differ in what they ask their linker for, and lld's own choice is a 64-bit hash.
add_link_options(LINKER:--build-id=sha1)

# frazil_precompile(target [header...]): what nearly every file includes, read once. Saves clang a third of its time
# (2026-11-15: 0.6 s of 1.7 s a file); g++ goes without, so that a forgotten include is found. Targets that name no
# header share one with all others of their kind (2026-11-15: 47 of them had cost 86 s in the preset dev).
set(FRAZIL_PRECOMPILED <fmt/format.h> <algorithm> <array> <cstdint> <expected> <functional> <map> <memory> <optional>
    <span> <string> <string_view> <utility> <vector>)
function(frazil_precompile target)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  get_target_property(for_shared ${target} POSITION_INDEPENDENT_CODE)
  if(for_shared)
    target_precompile_headers(${target} PRIVATE ${FRAZIL_PRECOMPILED} ${ARGN})
    return()
  elseif(ARGN STREQUAL "")
    set(shared frazil_precompiled)
  elseif(ARGN STREQUAL "<gtest/gtest.h>")
    set(shared frazil_precompiled_test)
  else()
    target_precompile_headers(${target} PRIVATE ${FRAZIL_PRECOMPILED} ${ARGN})
    return()
  endif()
  if(NOT TARGET ${shared})
    file(WRITE ${CMAKE_BINARY_DIR}/${shared}.cpp "// Has the shared precompiled header.\n")
    add_library(${shared} STATIC ${CMAKE_BINARY_DIR}/${shared}.cpp)
    target_compile_features(${shared} PUBLIC cxx_std_23)
    target_compile_options(${shared} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    target_link_libraries(${shared} PRIVATE frazil_warnings fmt::fmt Threads::Threads)
    if(NOT ARGN STREQUAL "")
      target_link_libraries(${shared} PRIVATE GTest::gtest)
    endif()
    target_precompile_headers(${shared} PRIVATE ${FRAZIL_PRECOMPILED} ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

# frazil_warnings: how we compile ourselves; it never reaches a user of the installed libraries.
add_library(frazil_warnings INTERFACE)
target_compile_options(frazil_warnings INTERFACE -Wall -Wextra -Werror)
# Loops are asked to be vectorized; where a sanitizer keeps the compiler from it, that is no mistake.
target_compile_options(frazil_warnings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
# g++ 12 sees overlap in std::string's own operator+ where there is none (GCC bug 105651).
target_compile_options(frazil_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Contraction would change bits: the IR has its own fma.
target_compile_options(frazil_warnings INTERFACE -ffp-contract=off)
# A terminal gets colors although Ninja stands between.
target_compile_options(frazil_warnings INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-fcolor-diagnostics>
  $<$<CXX_COMPILER_ID:GNU>:-fdiagnostics-color=always>)

string(FIND "${CMAKE_CXX_FLAGS}" "-fsanitize=" sanitizer_at)
if(sanitizer_at EQUAL -1)
  set(FRAZIL_SANITIZED OFF)
else()
  set(FRAZIL_SANITIZED ON)
endif()
