# frazil_llvm: LLVM's code generators for x86 and PTX, linked statically (a process that maps the shared library starts 8 ms
# later). Only targets/llvm, native and cuda include its headers, and only the worker, the CLI and tests link it.
include_guard()

find_program(FRAZIL_LLVM_CONFIG NAMES llvm-config-22 HINTS /usr/lib/llvm-22/bin REQUIRED)
function(frazil_llvm_config variable)
  execute_process(COMMAND ${FRAZIL_LLVM_CONFIG} ${ARGN}
    OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
frazil_llvm_config(llvm_include --includedir)
frazil_llvm_config(llvm_libdir --libdir)
frazil_llvm_config(llvm_version --version)
frazil_llvm_config(llvm_libs --link-static --libs
  x86codegen x86desc x86info nvptxcodegen nvptxdesc nvptxinfo transformutils asmprinter selectiondag codegen core support target mc)
separate_arguments(llvm_libs)
list(TRANSFORM llvm_libs REPLACE "^-l(.*)$" "${llvm_libdir}/lib\\1.a")

add_library(frazil_llvm INTERFACE)
target_include_directories(frazil_llvm SYSTEM INTERFACE ${llvm_include})
target_compile_definitions(frazil_llvm INTERFACE FRAZIL_LLVM_VERSION="${llvm_version}")
target_link_libraries(frazil_llvm INTERFACE
  -Wl,--gc-sections -Wl,--as-needed ${llvm_libs} z zstd ${CMAKE_DL_LIBS})
