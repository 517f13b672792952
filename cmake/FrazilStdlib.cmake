# The standard kernels (stdlib/kernels), compiled by our own compiler during the build and embedded in frazil_runtime. Under a
# sanitizer the release build's compiler makes them where it is there: the code it makes is the same.
include_guard()
include(FrazilKernels)

set(release_stage0 ${CMAKE_SOURCE_DIR}/build/release/bin/frazil-stage0)
if(FRAZIL_SANITIZED AND NOT FRAZIL_STAGE0 AND EXISTS ${release_stage0})
  set(FRAZIL_STAGE0 ${release_stage0})
endif()
frazil_add_kernels(frazil_stdlib FILES stdlib/kernels/*/*.py TARGETS native isa)
set_target_properties(frazil_stdlib PROPERTIES EXPORT_NAME stdlib)
add_library(frazil::stdlib ALIAS frazil_stdlib)
target_link_libraries(frazil_runtime PUBLIC frazil_stdlib)
set_property(GLOBAL APPEND PROPERTY FRAZIL_LIBRARIES frazil_stdlib)
