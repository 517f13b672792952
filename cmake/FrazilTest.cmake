# frazil_test(NAME n LABEL layer... [TIMEOUT s] [ENVIRONMENT a=b ...] [SERIAL] COMMAND ...): a test of one
# layer. scripts/test.py runs the layers one by one, in the order of its table, each with its budget.
# The label `nightly` keeps a test out of all of them: `make nightly` runs it.
#
# frazil_naive(program): the naive checker (verify/runs/naive.h) looks at everything that is called equal in this test program,
# and what it disagrees with is a failure. It can read machine code, too.
#
# frazil_code_reader(program): this one only that.
#
# frazil_fuzz(name SOURCE f.cpp LINK libs [RUNS n] [CORPUS folder]): a program fuzz_<name> around
# LLVMFuzzerTestOneInput. In the preset `fuzz` it is a libFuzzer program; in all others it replays the
# corpus and n seeded mutations of it, as the test fuzz.<name>.
include_guard()

function(frazil_test)
  cmake_parse_arguments(ARG "SERIAL" "NAME;TIMEOUT" "LABEL;ENVIRONMENT;COMMAND" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND})
  set_tests_properties(${ARG_NAME} PROPERTIES
    LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${ARG_SERIAL})
  if(ARG_ENVIRONMENT)
    set_tests_properties(${ARG_NAME} PROPERTIES ENVIRONMENT "${ARG_ENVIRONMENT}")
  endif()
endfunction()

function(frazil_code_reader program)
  target_sources(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests/judges/code_reader.cpp)
  target_link_libraries(${program} PRIVATE frazil_verify_x86)
endfunction()

function(frazil_naive program)
  frazil_code_reader(${program})
  target_sources(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests/judges/naive_listener.cpp)
  target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
endfunction()

# Groups that scripts/test.py builds alone in the slow presets.
add_custom_target(unit_tests)
add_custom_target(threaded_tests)
add_custom_target(fuzzers)

function(frazil_fuzz name)
  cmake_parse_arguments(ARG "" "SOURCE;RUNS;CORPUS" "LINK" ${ARGN})
  if(NOT ARG_RUNS)
    set(ARG_RUNS 2000)
  endif()
  if(NOT ARG_CORPUS)
    set(ARG_CORPUS ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  endif()
  add_executable(fuzz_${name} ${ARG_SOURCE})
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_LINK} frazil_warnings)
  add_dependencies(fuzzers fuzz_${name})
  if(FRAZIL_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/infra/fuzz_seeds.cpp)
    frazil_test(NAME fuzz.${name} LABEL fuzz
      COMMAND fuzz_${name} --runs ${ARG_RUNS} ${ARG_CORPUS})
  endif()
endfunction()
