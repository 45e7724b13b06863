# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
option(FPO_BUILD_TESTS "Build the tests" ON)
option(FPO_WERROR "Warnings are errors" OFF)
option(FPO_SANITIZE "Address and undefined behaviour sanitizers" OFF)
option(FPO_FUZZ "The fuzz targets of tests/fuzz, for libFuzzer (clang)" OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Results must not depend on what the compiler fuses or assumes.
add_compile_options(-ffp-contract=off -fno-fast-math -D_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
# NDEBUG must not change what is checked: the library does not use assert for input.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
if(FPO_WERROR)
  add_compile_options(-Werror)
endif()
if(FPO_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=address,undefined)
endif()
if(FPO_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FPO_FUZZ needs clang: cmake --preset fuzz, or -DCMAKE_C_COMPILER=clang")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -g
    -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  add_link_options(-fsanitize=address,undefined)
endif()

# NAME_avx2.c and NAME_avx512.c hold what runs on such processors only; they are chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(FPO_X86 ON)
endif()
function(fpo_isa_flags)
  foreach(source ${ARGN})
    if(source MATCHES "_avx2\\.c$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
    elseif(source MATCHES "_avx512\\.c$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
        "-mavx2;-mfma;-mf16c;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512cd;-mavx512vnni;-mavx512vbmi")
    endif()
  endforeach()
endfunction()
