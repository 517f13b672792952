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

# Every program carries a digest of what it was linked from: who made a stored form is known by it (base/system/build_id.h).
# Named here, because compilers differ in what they ask their linker for, and lld's own choice is a 64-bit hash.
add_link_options(LINKER:--build-id=sha1)

# frazil_precompile(target KIND | header...): what nearly every file of a kind includes, read once. g++ goes without, so
# that a forgotten include is found. Targets of one KIND share one (47 of their own had cost 86 s in the preset dev):
#   PLAIN  the libraries (2026-11-15: saves 0.6 s of 1.7 s a file)
#   LLVM   files that write LLVM's IR (2026-11-17: targets/cuda/fold.cpp 3.5 s, with it 1.3 s)
#   TEST   tests, not optimized: a compiler spends two thirds of its time on code that is run once (2026-11-17:
#          4.7 s a file with -O3, 1.5 s so; what is tested is optimized as ever)
set(FRAZIL_PRECOMPILED <fmt/format.h> <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <expected> <functional>
    <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
# Of our own headers only what nearly all need and what seldom changes.
set(own ${CMAKE_CURRENT_LIST_DIR}/../src)
set(FRAZIL_PRECOMPILED_PLAIN ${own}/ir/program.h ${own}/exec/value.h)
set(FRAZIL_PRECOMPILED_LLVM ${FRAZIL_PRECOMPILED_PLAIN} <llvm/IR/IRBuilder.h> <llvm/IR/Intrinsics.h> <llvm/IR/Module.h>)
set(FRAZIL_PRECOMPILED_TEST ${FRAZIL_PRECOMPILED_PLAIN} <gtest/gtest.h> <filesystem> <fstream> <random> <sstream> <thread>)
function(frazil_precompile target kind)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  if(kind STREQUAL TEST)
    target_compile_features(${target} PRIVATE cxx_std_23)
    target_compile_options(${target} PRIVATE -O0)
    target_link_libraries(${target} PRIVATE GTest::gtest)  # its definitions belong to the header
  endif()
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  get_target_property(for_shared ${target} POSITION_INDEPENDENT_CODE)
  if(NOT kind MATCHES "^(PLAIN|LLVM|TEST)$")
    target_precompile_headers(${target} PRIVATE ${FRAZIL_PRECOMPILED} ${kind} ${ARGN})
    return()
  elseif(for_shared)
    target_precompile_headers(${target} PRIVATE ${FRAZIL_PRECOMPILED})  # the lowest layers: they know no other
    return()
  endif()
  string(TOLOWER frazil_precompiled_${kind} shared)
  if(NOT TARGET ${shared})
    file(WRITE ${CMAKE_BINARY_DIR}/${shared}.cpp "// Has the shared precompiled header.\n")
    add_library(${shared} STATIC ${CMAKE_BINARY_DIR}/${shared}.cpp)
    target_compile_features(${shared} PUBLIC cxx_std_23)
    target_compile_options(${shared} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    target_include_directories(${shared} PRIVATE ${own})
    target_link_libraries(${shared} PRIVATE frazil_warnings fmt::fmt Threads::Threads)
    if(kind STREQUAL LLVM)
      target_link_libraries(${shared} PRIVATE frazil_llvm)
    elseif(kind STREQUAL TEST)
      target_compile_options(${shared} PRIVATE -O0)
      target_link_libraries(${shared} PRIVATE GTest::gtest)
    endif()
    target_precompile_headers(${shared} PRIVATE ${FRAZIL_PRECOMPILED} ${FRAZIL_PRECOMPILED_${kind}})
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
