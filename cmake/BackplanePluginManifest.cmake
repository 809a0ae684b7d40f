# Writes a plugin's manifest from its library and what backplane_add_plugin() was told. Run as a script:
# LIBRARY, OUTPUT, NAME, VERSION, DESCRIPTION, PRIORITY, KERNELS (separated by commas), UNLOAD (true or false).
file(STRINGS "${LIBRARY}" facts REGEX "backplane-plugin-facts interface=[0-9]+\\.[0-9]+ toolchain=[^|]*")
string(REGEX MATCH "interface=([0-9]+)\\.([0-9]+) toolchain=([^|]*)" found "${facts}")
if(NOT found)
  message(FATAL_ERROR "\"${LIBRARY}\" says nothing about its interface and toolchain; build it with "
                      "backplane_add_plugin()")
endif()
set(major ${CMAKE_MATCH_1})
set(revision ${CMAKE_MATCH_2})
set(toolchain "${CMAKE_MATCH_3}")
foreach(text IN ITEMS VERSION DESCRIPTION)
  string(REPLACE "\\" "\\\\" ${text} "${${text}}")
  string(REPLACE "\"" "\\\"" ${text} "${${text}}")
endforeach()
string(REGEX REPLACE "([^,]+)" "\"\\1\"" kernels "${KERNELS}")
string(REPLACE "," ", " kernels "${kernels}")
get_filename_component(library "${LIBRARY}" NAME)
file(WRITE "${OUTPUT}" "manifest = 1
name = \"${NAME}\"
version = \"${VERSION}\"
description = \"${DESCRIPTION}\"
library = \"${library}\"
interface = { major = ${major}, revision = ${revision} }
toolchain = \"${toolchain}\"
priority = ${PRIORITY}
kernels = [${kernels}]
unload = ${UNLOAD}
")
