# BACKPLANE_SANITIZER=address or thread instruments everything that is built.
if(BACKPLANE_SANITIZER STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(BACKPLANE_SANITIZER STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(BACKPLANE_SANITIZER)
  message(FATAL_ERROR "BACKPLANE_SANITIZER is \"${BACKPLANE_SANITIZER}\"; it can be address or thread")
endif()
if(BACKPLANE_SANITIZER)
  # Instrumented code hides from g++ what has been initialised: it then warns of std::variant's own members.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
