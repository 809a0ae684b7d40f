# backplane_add_plugin(NAME SOURCES ... [LIBRARIES ...] [KERNELS ...] [PRIORITY N] [DESCRIPTION TEXT] [VERSION V]
#                      [UNLOAD] [OUTPUT_DIRECTORY DIR] [NO_INSTALL])
#
# A plugin called NAME: the target backplane_plugin_NAME, which builds libbackplane_NAME.so and writes
# NAME.plugin.toml beside it, into lib/backplane/plugins of the build tree, and installs both. The library exports its
# entry point alone. KERNELS are the kernel forms it takes, the best first. PRIORITY (default 0) decides whose device is
# the default one. UNLOAD lets the host close the library: only for a plugin that leaves no thread and no
# thread-local object behind. VERSION defaults to the project's.
set(BACKPLANE_PLUGIN_SUPPORT_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})

function(backplane_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNLOAD;NO_INSTALL" "PRIORITY;DESCRIPTION;VERSION;OUTPUT_DIRECTORY"
    "SOURCES;LIBRARIES;KERNELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "backplane_add_plugin(${name}) does not know \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  string(LENGTH "${name}" length)
  if(NOT name MATCHES "^[a-z0-9_-]+$" OR length GREATER 32)
    message(FATAL_ERROR "\"${name}\" cannot be a plugin's name; it takes 1 to 32 of a-z, 0-9, '_' and '-'")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "backplane_add_plugin(${name}) needs SOURCES")
  endif()
  if(NOT arg_VERSION)
    set(arg_VERSION "${PROJECT_VERSION}")
  endif()
  if(NOT arg_VERSION)
    message(FATAL_ERROR "backplane_add_plugin(${name}) needs VERSION, or a project() with one")
  endif()
  if(NOT arg_PRIORITY)
    set(arg_PRIORITY 0)
  endif()
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/backplane/plugins)
  endif()
  include(GNUInstallDirs)

  set(target backplane_plugin_${name})
  set(support ${BACKPLANE_PLUGIN_SUPPORT_DIRECTORY})
  set(manifest ${arg_OUTPUT_DIRECTORY}/${name}.plugin.toml)
  add_library(${target} MODULE ${arg_SOURCES} ${support}/backplane_plugin_facts.cpp)
  set_target_properties(${target} PROPERTIES
    PREFIX lib OUTPUT_NAME backplane_${name} SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${arg_OUTPUT_DIRECTORY}
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${support}/backplane_plugin.map)
  target_compile_definitions(${target} PRIVATE
    BACKPLANE_PLUGIN_NAME="${name}" BACKPLANE_PLUGIN_VERSION="${arg_VERSION}")
  # A unique symbol would keep the library in the process for good, and join it with another's of the same name.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_libraries(${target} PRIVATE backplane::sdk ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE LINKER:--version-script=${support}/backplane_plugin.map)
  # The sanitizers' own symbols come from the program.
  if(NOT BACKPLANE_SANITIZER AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()

  if(arg_UNLOAD)
    set(unload true)
  else()
    set(unload false)
  endif()
  string(REPLACE ";" "," kernels "${arg_KERNELS}")
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${manifest}
    COMMAND ${CMAKE_COMMAND} -DLIBRARY=$<TARGET_FILE:${target}> -DOUTPUT=${manifest} -DNAME=${name}
      -DVERSION=${arg_VERSION} "-DDESCRIPTION=${arg_DESCRIPTION}" -DPRIORITY=${arg_PRIORITY} -DKERNELS=${kernels}
      -DUNLOAD=${unload} -P ${support}/BackplanePluginManifest.cmake
    VERBATIM)
  # In this project's own tree a test reads what the library exports.
  if(TARGET backplane_core_objects)
    set_property(TARGET backplane_core_objects APPEND PROPERTY BACKPLANE_PLUGIN_FILES $<TARGET_FILE:${target}>)
  endif()
  if(NOT arg_NO_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/backplane/plugins COMPONENT plugins)
    install(FILES ${manifest} DESTINATION ${CMAKE_INSTALL_LIBDIR}/backplane/plugins COMPONENT plugins)
  endif()
endfunction()
