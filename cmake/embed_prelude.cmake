# cmake -DOUTPUT=... -DFILES=a;b -P embed_prelude.cmake: writes the files as raw string literals.
set(all "")
set(literals "")
foreach(file ${FILES})
  file(READ ${file} text)
  string(APPEND all "${text}")
  # Compilers limit the length of one literal; neighbors join.
  string(APPEND literals "R\"frz(${text})frz\"\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUTPUT} "static constexpr char EmbeddedPrelude[] =\n${literals}\"\";\n"
  "static constexpr char EmbeddedPreludeDigest[] = \"${digest}\";\n")
