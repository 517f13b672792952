# cmake -DOUTPUT=... -DFILE=tool.py -P embed_python_tool.cmake: writes the file as raw string literals.
file(READ ${FILE} text)
string(LENGTH "${text}" length)
set(literals "")
set(at 0)
# Compilers limit the length of one literal; neighbors join.
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND literals "R\"frzpy(${piece})frzpy\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE ${OUTPUT} "static constexpr char EmbeddedPythonTool[] =\n${literals}\"\";\n")
