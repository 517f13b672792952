# cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -P install_test.cmake: installs the build, moves the installed tree (it
# must be relocatable), and builds and runs examples/find_package_kernels against it, twice.
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

# A user's own headers of the names of ours are found first, and are not taken for ours.
foreach(name embed/launch.h embed/sequence.h embed/kernel.h embed/status.h base/result.h base/system/thread_pool.h)
  file(WRITE ${SCRATCH}/own/${name} "#error \"a header of the user's own\"\n")
endforeach()
run(${CMAKE_COMMAND} -S ${SCRATCH}/project -B ${SCRATCH}/build -G Ninja
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${SCRATCH}/moved "-DCMAKE_CXX_FLAGS=-I${SCRATCH}/own"
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
if(NOT output MATCHES "saxpy +[0-9].*compiled\n")
  message(FATAL_ERROR "the build printed no table:\n${output}")
endif()
run(${SCRATCH}/build/user)
set(expected "12 16 36\nsaxpy: x and y must have the same length\n0 76 0\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "it printed\n${output}where this is right\n${expected}")
endif()

# Nothing changed: nothing is compiled. One kernel changed: the other one is not compiled again.
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
if(NOT output MATCHES "no work to do")
  message(FATAL_ERROR "a second build did something:\n${output}")
endif()
file(READ ${SCRATCH}/project/relu.py text)
string(REPLACE "0.0" "1.0" text "${text}")
file(WRITE ${SCRATCH}/project/relu.py "${text}")
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
if(NOT output MATCHES "relu +[0-9].*compiled\n" OR NOT output MATCHES "saxpy +[0-9][^\n]*cached\n")
  message(FATAL_ERROR "a change of one kernel:\n${output}")
endif()
message(STATUS "installed, moved, kernels compiled by the installed compiler, built and run")
