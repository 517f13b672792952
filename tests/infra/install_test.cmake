# cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -P install_test.cmake: installs the build, moves the
# installed tree (it must be relocatable), and builds and runs examples/find_package against it.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGV " " line)
    message(FATAL_ERROR "${line}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/first)
file(RENAME ${SCRATCH}/first ${SCRATCH}/moved)
file(COPY ${SOURCE}/ DESTINATION ${SCRATCH}/project)

run(${CMAKE_COMMAND} -S ${SCRATCH}/project -B ${SCRATCH}/build -G Ninja
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${SCRATCH}/moved
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/sum 10)
string(STRIP "${output}" output)
if(NOT output STREQUAL "55")
  message(FATAL_ERROR "sum 10 printed '${output}' where 55 is right")
endif()

# The tool must work from where it was moved to, the wasmtime library beside it included.
if(EXISTS ${SCRATCH}/moved/bin/frazil)
  run(${SCRATCH}/moved/bin/frazil --version)
endif()
message(STATUS "installed, moved, found by find_package, built, run: ${output}")
