# Warnings for every target of the project. An interface library, so that nothing of it reaches those who use us.
add_library(backplane_warnings INTERFACE)
target_compile_options(backplane_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wformat=2
  $<$<BOOL:${BACKPLANE_WARNINGS_AS_ERRORS}>:-Werror>)
