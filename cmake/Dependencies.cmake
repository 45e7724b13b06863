# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

# MPFR backs the independent checks and `explain`; Check runs the tests.
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(GMP_LIBRARY gmp REQUIRED)
add_library(fpo_mpfr INTERFACE)
target_link_libraries(fpo_mpfr INTERFACE ${MPFR_LIBRARY} ${GMP_LIBRARY})
if(FPO_BUILD_TESTS)
  pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd) # tests/data is compressed
endif()

# Optional: without it everything else builds and passes its tests.
find_package(CUDAToolkit QUIET)
if(NOT CUDAToolkit_FOUND)
  # What tools/get_nvcc fetched.
  file(GLOB fetched "$ENV{HOME}/.cache/fp4oracle/cuda-*/bin/nvcc" "$ENV{XDG_CACHE_HOME}/fp4oracle/cuda-*/bin/nvcc")
  foreach(nvcc ${fetched})
    if(nvcc MATCHES "^(.*/cuda-[0-9.]+)/bin/nvcc$")
      set(CUDAToolkit_ROOT ${CMAKE_MATCH_1})
      find_package(CUDAToolkit QUIET)
    endif()
  endforeach()
endif()
find_library(OPENBLAS_LIBRARY openblas)
