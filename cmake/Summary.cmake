# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
message(STATUS "fp4oracle ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}")
if(NOT CUDAToolkit_FOUND)
  message(STATUS "  no CUDA Toolkit: plug-ins for CUDA kernels and the checks against the CUDA headers are left out")
endif()
if(NOT OPENBLAS_LIBRARY)
  message(STATUS "  no OpenBLAS: `bench` cannot compare with sgemm")
endif()
