# backplane_add_conformance(NAME)
#
# Registers the conformance suite with CTest for the plugin NAME that backplane_add_plugin() builds here: one test a
# group, labelled "conformance" and by plugin.
set(BACKPLANE_CONFORMANCE_GROUPS Errors Launch Memory Profile Transfer)

function(backplane_add_conformance name)
  set(target backplane_plugin_${name})
  foreach(group IN LISTS BACKPLANE_CONFORMANCE_GROUPS)
    add_test(NAME conformance.${name}.${group} COMMAND backplane::conformance
      --plugin $<TARGET_FILE_DIR:${target}>/${name}.plugin.toml --filter=${group}.*)
    # A group without tests would pass.
    set_tests_properties(conformance.${name}.${group} PROPERTIES LABELS "conformance;${name}" TIMEOUT 300
      FAIL_REGULAR_EXPRESSION "Running 0 tests")
  endforeach()
endfunction()
