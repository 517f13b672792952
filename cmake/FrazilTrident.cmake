# Embeds stdlib/trident/**/*.tri, the standard library of Trident, into frazil_frontends_trident.
include_guard()

file(GLOB_RECURSE trident_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/trident/*.tri)
set(trident_inc ${CMAKE_BINARY_DIR}/generated/trident_library.inc)
add_custom_command(
  OUTPUT ${trident_inc}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${trident_inc} -DROOT=${CMAKE_SOURCE_DIR}/stdlib/trident "-DFILES=${trident_files}"
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_trident.cmake
  DEPENDS ${trident_files} ${CMAKE_SOURCE_DIR}/cmake/embed_trident.cmake
  COMMENT "Embedding the standard library of Trident"
  VERBATIM)
target_sources(frazil_frontends_trident PRIVATE ${trident_inc})
target_include_directories(frazil_frontends_trident PRIVATE ${CMAKE_BINARY_DIR}/generated)
