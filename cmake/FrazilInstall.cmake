# `cmake --install`: the CLI, the libraries with their headers, the wasmtime library, and the package
# files behind find_package(frazil). examples/find_package uses them, built by a test.
include_guard()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY FRAZIL_LIBRARIES)

# What ships: frazil::embed (src/embed with base) < frazil::rt < frazil::frazil; a program may also name single folders, such as
# frazil::ir. The compiler (LLVM, Z3) is no library for others: it is the worker and the CLI.
function(frazil_bundle name)
  add_library(frazil_${name} INTERFACE)
  add_library(frazil::${name} ALIAS frazil_${name})
  set_target_properties(frazil_${name} PROPERTIES EXPORT_NAME ${name})
  list(TRANSFORM ARGN PREPEND frazil_)
  target_link_libraries(frazil_${name} INTERFACE ${ARGN})
endfunction()
frazil_bundle(rt base embed ir exec machines_simt targets_isa targets_tiles profile verify store dispatch)

# What plain `make` builds: the CLI and the libraries, no tests.
add_custom_target(product)
foreach(library ${libraries})
  get_target_property(kind ${library} TYPE)
  if(NOT kind STREQUAL INTERFACE_LIBRARY)
    add_dependencies(product ${library})
  endif()
endforeach()
if(TARGET frazil)
  add_dependencies(product frazil)
  install(TARGETS frazil RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(program frazil-worker frazil-stage0)
  if(TARGET ${program})
    add_dependencies(product ${program})
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/frazil)
install(TARGETS ${libraries} frazil_rt EXPORT frazilTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT frazilTargets NAMESPACE frazil:: DESTINATION ${package_dir})
get_property(installed_folders GLOBAL PROPERTY FRAZIL_INSTALLED_FOLDERS)
get_property(internal_folders GLOBAL PROPERTY FRAZIL_INTERNAL_FOLDERS)
install(CODE "
  set(SOURCE \"${CMAKE_SOURCE_DIR}/src\")
  set(DESTINATION \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/include\")
  set(INSTALLED_FOLDERS \"${installed_folders}\")
  set(INTERNAL_FOLDERS \"${internal_folders}\")
  include(\"${CMAKE_SOURCE_DIR}/cmake/install_headers.cmake\")")
if(EXISTS ${FRAZIL_WASMTIME_LIBRARY})
  install(PROGRAMS ${FRAZIL_WASMTIME_LIBRARY} DESTINATION lib/frazil)
endif()

configure_package_config_file(cmake/frazilConfig.cmake.in
  ${CMAKE_BINARY_DIR}/package/frazilConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/frazilConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/FrazilKernels.cmake
  ${CMAKE_BINARY_DIR}/package/frazilConfig.cmake
  ${CMAKE_BINARY_DIR}/package/frazilConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
