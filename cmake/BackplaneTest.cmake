# backplane_add_test(NAME SOURCES... [LIBRARIES ...] [LABELS ...])
# One GoogleTest executable, registered with CTest test by test.
function(backplane_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} backplane_warnings GTest::gmock GTest::gtest_main)
  set(labels)
  if(arg_LABELS)
    set(labels LABELS "${arg_LABELS}")  # without any, the next word would be taken for one
  endif()
  gtest_discover_tests(${name} PROPERTIES ${labels} TIMEOUT 120 DISCOVERY_TIMEOUT 60)
endfunction()
