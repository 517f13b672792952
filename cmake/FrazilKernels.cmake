# frazil_add_kernels(name FILES a.py b.cir ... [TARGETS native;isa;ptx;wasm;c] [CACHE store] [NO_PROGRAMS])
#
# A static library `name` with the kernels of the files (.py, .json, .cir, .frz), compiled ahead of time:
#   #include "name.hpp"      name::saxpy(2.0f, x, y);
# It links frazil::embed and nothing else. Only files that changed are compiled again; the build prints a table of what
# was made of each kernel. Artifacts for other machines lie beside the header: the target property FRAZIL_KERNELS_DIR.
# Each kernel carries the programs that `frazil audit` judges it by; NO_PROGRAMS leaves them out.
#
# Works in this project's own build and after find_package(frazil). FRAZIL_STAGE0 names the compiler of kernels.
include_guard()

function(frazil_add_kernels name)
  cmake_parse_arguments(ARG "NO_PROGRAMS" "CACHE" "FILES;TARGETS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "frazil_add_kernels(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_FILES)
    message(FATAL_ERROR "frazil_add_kernels(${name}): no FILES")
  endif()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS native isa)
  endif()

  # Patterns are looked at again in every build, as file(GLOB) does.
  set(files "")
  foreach(file ${ARG_FILES})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    if(file MATCHES "[*?]")
      file(GLOB found CONFIGURE_DEPENDS ${file})
      if(NOT found)
        message(FATAL_ERROR "frazil_add_kernels(${name}): no file is like ${file}")
      endif()
      list(APPEND files ${found})
    else()
      list(APPEND files ${file})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES files)

  if(TARGET frazil-stage0)
    set(stage0 $<TARGET_FILE:frazil-stage0>)
    set(depends frazil-stage0)
    if(FRAZIL_STAGE0)
      set(stage0 ${FRAZIL_STAGE0})
      set(depends ${FRAZIL_STAGE0})
    endif()
  elseif(FRAZIL_STAGE0)
    set(stage0 ${FRAZIL_STAGE0})
    set(depends ${FRAZIL_STAGE0})
  else()
    message(FATAL_ERROR "frazil_add_kernels(${name}): frazil-stage0 was not found; set FRAZIL_STAGE0")
  endif()

  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.kernels)
  set(options "")
  if(ARG_CACHE)
    list(APPEND options --cache ${ARG_CACHE})
  endif()
  if(ARG_NO_PROGRAMS)
    list(APPEND options --no-programs)
  endif()
  string(REPLACE ";" "," targets "${ARG_TARGETS}")
  add_custom_command(
    OUTPUT ${out}/${name}.cpp ${out}/${name}.hpp
    COMMAND ${stage0} --name ${name} --out ${out} --targets ${targets} ${options} ${files}
    DEPENDS ${files} ${depends}
    COMMENT "Compiling the kernels of ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)

  add_library(${name} STATIC ${out}/${name}.cpp ${out}/${name}.hpp)
  target_compile_features(${name} PUBLIC cxx_std_20)
  # The assembler's symbols are not seen by link-time optimization.
  target_compile_options(${name} PRIVATE -fno-lto)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${out}>)
  target_link_libraries(${name} PUBLIC frazil::embed)
  set_target_properties(${name} PROPERTIES FRAZIL_KERNELS_DIR ${out} POSITION_INDEPENDENT_CODE ON)
endfunction()
