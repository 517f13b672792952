# Embeds src/ir/prelude/*.frz into frazil_ir as one string, with its SHA-256.
include_guard()

file(GLOB prelude_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ir/prelude/*.frz)
set(prelude_inc ${CMAKE_BINARY_DIR}/generated/prelude_text.inc)
add_custom_command(
  OUTPUT ${prelude_inc}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${prelude_inc} "-DFILES=${prelude_files}"
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_prelude.cmake
  DEPENDS ${prelude_files} ${CMAKE_SOURCE_DIR}/cmake/embed_prelude.cmake
  COMMENT "Embedding the math prelude"
  VERBATIM)
get_target_property(ir_kind frazil_ir TYPE)
if(NOT ir_kind STREQUAL INTERFACE_LIBRARY)
  target_sources(frazil_ir PRIVATE ${prelude_inc})
  target_include_directories(frazil_ir PRIVATE ${CMAKE_BINARY_DIR}/generated)
endif()
