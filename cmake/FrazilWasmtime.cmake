# Where the pinned wasmtime library is (scripts/setup.sh puts it there). It is opened at run time, so
# nothing links it and the build works without it; the search order is stated in targets/wasm/README.md.
include_guard()

set(FRAZIL_WASMTIME_DIR ${CMAKE_SOURCE_DIR}/.cache/wasmtime CACHE PATH
  "Folder that holds libwasmtime.so")
set(FRAZIL_WASMTIME_LIBRARY ${FRAZIL_WASMTIME_DIR}/libwasmtime.so)
if(NOT EXISTS ${FRAZIL_WASMTIME_LIBRARY})
  message(WARNING "wasmtime is not there yet; run scripts/setup.sh before using the wasm target.")
endif()

function(frazil_use_wasmtime folder)
  string(REPLACE "/" "_" name ${folder})
  get_target_property(kind frazil_${name} TYPE)
  if(NOT kind STREQUAL INTERFACE_LIBRARY)
    target_compile_definitions(frazil_${name} PRIVATE
      FRAZIL_WASMTIME_LIBRARY="${FRAZIL_WASMTIME_LIBRARY}")
  endif()
endfunction()
