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
file(COPY ${SOURCE}/../muladd.frz DESTINATION ${SCRATCH})

run(${CMAKE_COMMAND} -S ${SCRATCH}/project -B ${SCRATCH}/build -G Ninja
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${SCRATCH}/moved
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/sum 10)
string(STRIP "${output}" output)
if(NOT output STREQUAL "55")
  message(FATAL_ERROR "sum 10 printed '${output}' where 55 is right")
endif()

# The tool must work from where it was moved to, with the wasmtime library beside it and not the build's.
if(EXISTS ${SCRATCH}/moved/lib/frazil/libwasmtime.so)
  run(${CMAKE_COMMAND} -E env --unset=FRAZIL_WASMTIME LD_DEBUG=files
    ${SCRATCH}/moved/bin/frazil run ${SCRATCH}/muladd.frz 3 4 7 --target wasm)
  if(NOT output MATCHES "file=[^\n]*/moved/[^\n]*libwasmtime.so" OR NOT output MATCHES "(^|\n)19(\n|$)")
    message(FATAL_ERROR "the moved tool did not answer 19 with the library beside it:\n${output}")
  endif()
endif()
message(STATUS "installed, moved, found by find_package, built and run")
