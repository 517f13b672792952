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

# Whatever an installed header includes of ours is installed.
file(GLOB_RECURSE headers ${SCRATCH}/moved/include/*)
foreach(header ${headers})
  file(STRINGS ${header} lines REGEX "^#[ ]*include [<\"]")
  foreach(line ${lines})
    if(line MATCHES "include \"")
      message(FATAL_ERROR "${header} depends on the user's include path: ${line}")
    elseif(line MATCHES "<(frazil/[^>]+)>" AND NOT EXISTS ${SCRATCH}/moved/include/${CMAKE_MATCH_1})
      message(FATAL_ERROR "${header}: ${line}: there is no such file")
    endif()
  endforeach()
endforeach()

# A user has a header of the name of each of ours, found first, and none of them is taken for ours.
file(GLOB_RECURSE names RELATIVE ${SOURCE}/../../src ${SOURCE}/../../src/*.h ${SOURCE}/../../src/*.def)
foreach(name ${names})
  if(NOT name MATCHES "^frazil/")
    file(WRITE ${SCRATCH}/own/${name} "#error \"a header of the user's own\"\n")
  endif()
endforeach()
if(NOT EXISTS ${SCRATCH}/own/base/result.h)
  message(FATAL_ERROR "no header stands in the way: this test could not fail")
endif()

run(${CMAKE_COMMAND} -S ${SCRATCH}/project -B ${SCRATCH}/build -G Ninja
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${SCRATCH}/moved "-DCMAKE_CXX_FLAGS=-I${SCRATCH}/own"
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
# It finds the worker that was installed with the library, and sets.
set(sum ${CMAKE_COMMAND} -E env --unset=FRAZIL_WORKER ${SCRATCH}/build/sum 10)
set(ENV{FRAZIL_STORE} ${SCRATCH}/store)
run(${sum})
if(NOT output MATCHES "^55\nwhat     [0-9a-f]+ is solid: native code")
  message(FATAL_ERROR "sum 10 printed\n${output}where 55 from native code is right")
endif()
# Without it: the same answer, and it says where it looked.
file(RENAME ${SCRATCH}/moved/libexec/frazil/frazil-worker ${SCRATCH}/moved/libexec/frazil/hidden)
run(${CMAKE_COMMAND} -E env FRAZIL_STORE=${SCRATCH}/empty_store ${sum})
file(RENAME ${SCRATCH}/moved/libexec/frazil/hidden ${SCRATCH}/moved/libexec/frazil/frazil-worker)
if(NOT output MATCHES "^55\n.*frazil-worker was not found; tried [^ ]*/moved/libexec/frazil/frazil-worker \\(the installed package: ")
  message(FATAL_ERROR "without a worker it printed\n${output}")
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
