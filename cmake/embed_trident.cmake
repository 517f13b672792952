# cmake -DOUTPUT=... -DROOT=trident -DFILES=a;b -P embed_trident.cmake: the library of Trident modules as a C++ table.
set(rows "")
foreach(file ${FILES})
  file(READ ${file} text)
  file(RELATIVE_PATH path ${ROOT} ${file})
  string(REGEX REPLACE "\\.tri$" "" name ${path})
  string(REPLACE "/" "." name ${name})
  string(APPEND rows "    {\"${name}\", \"${path}\", R\"tri(${text})tri\"},\n")
endforeach()
file(WRITE ${OUTPUT} "struct EmbeddedModule {\n  std::string_view name, file, text;\n};\n"
  "static constexpr EmbeddedModule EmbeddedModules[] = {\n${rows}};\n")
