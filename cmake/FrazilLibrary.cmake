# frazil_library(folder DEPENDS a b LINK x TEST_LINK y EXCLUDE s): the static library frazil_<folder> of
# src/<folder> (sub-folders included, but for those excluded, which are libraries of their own), and its
# unit tests (*_test.cpp) in the program <folder>_test.
# INTERNAL: not installed; only our own programs link it. THREADED: its tests use threads, so every `make test` also runs them under ThreadSanitizer.
include_guard()

find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()

set_property(GLOBAL PROPERTY FRAZIL_LIBRARIES "")

function(frazil_library folder)
  cmake_parse_arguments(ARG "THREADED;INTERNAL" "" "DEPENDS;LINK;TEST_LINK;EXCLUDE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(library frazil_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
  foreach(sub_folder ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "/src/${folder}/${sub_folder}/")
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(scope PUBLIC)
  if(sources)
    add_library(${library} STATIC ${sources})
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:frazil_warnings>)
    frazil_precompile(${library})
  else()  # a folder of headers only
    set(scope INTERFACE)
    add_library(${library} INTERFACE)
  endif()
  add_library(frazil::${name} ALIAS ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${library} ${scope} cxx_std_23)
  target_include_directories(${library} ${scope}
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/frazil>)
  target_link_libraries(${library} ${scope} fmt::fmt Threads::Threads ${ARG_LINK})
  foreach(dependency ${ARG_DEPENDS})
    string(REPLACE "/" "_" dependency ${dependency})
    target_link_libraries(${library} ${scope} frazil_${dependency})
  endforeach()
  if(NOT ARG_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY FRAZIL_LIBRARIES ${library})
  endif()

  if(BUILD_TESTING AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE
      ${library} frazil_warnings GTest::gtest_main ${ARG_TEST_LINK})
    frazil_precompile(${name}_test <gtest/gtest.h>)
    add_dependencies(unit_tests ${name}_test)
    set(labels unit)
    if(ARG_THREADED)
      add_dependencies(threaded_tests ${name}_test)
      list(APPEND labels threads)
    endif()
    frazil_test(NAME unit.${name} LABEL "${labels}" COMMAND ${name}_test)
  endif()
endfunction()
