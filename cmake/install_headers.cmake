# Part of `cmake --install`: headers as a user's program names them, <frazil/ir/text.h>. In this tree a header is named from
# src/ ("ir/text/text.h"), and a user may well have an ir/text/text.h of his own; installed ones name each other by the whole path, so
# that `include/` is all that is on his include path. Headers of src/frazil are the door: <frazil/frazil.h>.
#   SOURCE            src/
#   DESTINATION       the folder include/ of the installed tree
#   INSTALLED_FOLDERS, INTERNAL_FOLDERS   which folders of src/ are libraries for others, and which are not
file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/*.h ${SOURCE}/*.def)
foreach(header ${headers})
  if(header MATCHES "(^|/)(internal/|test_[^/]*$)")
    continue()
  endif()
  # The innermost folder that is a library decides.
  set(longest 0)
  set(wanted FALSE)
  foreach(kind INSTALLED INTERNAL)
    foreach(folder ${${kind}_FOLDERS})
      string(LENGTH ${folder} length)
      string(FIND ${header} "${folder}/" at)
      if(at EQUAL 0 AND length GREATER longest)
        set(longest ${length})
        string(COMPARE EQUAL ${kind} INSTALLED wanted)
      endif()
    endforeach()
  endforeach()
  if(NOT wanted)
    continue()
  endif()
  file(READ ${SOURCE}/${header} text)
  string(REGEX REPLACE "(#[ \t]*include[ \t]*)\"(frazil/)?([^\"/]+/[^\"]+)\"" "\\1<frazil/\\3>" text "${text}")
  string(REGEX REPLACE "^frazil/" "" name ${header})
  file(WRITE ${DESTINATION}/frazil/${name} "${text}")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${DESTINATION}/frazil/${name})
endforeach()
