# Embeds python/frazil_kernels/tool.py into frazil_frontends_python as one string.
include_guard()

set(python_tool ${CMAKE_SOURCE_DIR}/python/frazil_kernels/tool.py)
set(python_tool_inc ${CMAKE_BINARY_DIR}/generated/python_tool.inc)
add_custom_command(
  OUTPUT ${python_tool_inc}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${python_tool_inc} -DFILE=${python_tool}
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_python_tool.cmake
  DEPENDS ${python_tool} ${CMAKE_SOURCE_DIR}/cmake/embed_python_tool.cmake
  COMMENT "Embedding the Python tool"
  VERBATIM)
get_target_property(kernels_kind frazil_frontends_python TYPE)
if(NOT kernels_kind STREQUAL INTERFACE_LIBRARY)
  target_sources(frazil_frontends_python PRIVATE ${python_tool_inc})
  target_include_directories(frazil_frontends_python PRIVATE ${CMAKE_BINARY_DIR}/generated)
endif()
