# The install: headers, libraries, and the package that find_package(backplane) reads. Each component is an export set
# of its own, so that one may be installed without the others; install() its target with
# EXPORT backplane-COMPONENT-targets and call backplane_export(COMPONENT).
include(CMakePackageConfigHelpers)
set(BACKPLANE_PACKAGE_DIRECTORY ${CMAKE_INSTALL_LIBDIR}/cmake/backplane)

function(backplane_export component)
  install(EXPORT backplane-${component}-targets NAMESPACE backplane:: DESTINATION ${BACKPLANE_PACKAGE_DIRECTORY}
    COMPONENT ${component})
endfunction()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/backplane-config.cmake.in
  ${PROJECT_BINARY_DIR}/backplane-config.cmake INSTALL_DESTINATION ${BACKPLANE_PACKAGE_DIRECTORY})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/backplane-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/backplane-config.cmake ${PROJECT_BINARY_DIR}/backplane-config-version.cmake
  cmake/BackplanePlugin.cmake cmake/BackplanePluginManifest.cmake cmake/backplane_plugin.map
  cmake/backplane_plugin_facts.cpp
  DESTINATION ${BACKPLANE_PACKAGE_DIRECTORY} COMPONENT sdk)
