# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# Plug-ins with CUDA sources, and the packages that they are compiled from. Nothing is fetched or compiled for minutes
# unless asked: tools/fetch_packages NAME, then -DFPO_BUILD_KERNELS=ON. Objects are kept by content hash in the user's
# cache folder; one that is there is used without asking.
option(FPO_BUILD_KERNELS "Compile third-party kernels with nvcc (each takes minutes and 6 GB of memory)" OFF)

# The folder of a package of tools/packages.txt, or nothing.
function(fpo_package name variable)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/fetch_packages --cached ${name} OUTPUT_VARIABLE folder
    OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(${variable} ${folder} PARENT_SCOPE)
  else()
    set(${variable} "" PARENT_SCOPE)
  endif()
endfunction()

# fpo_cuda_plugin(NAME ARCHITECTURE 90a CUDA a.cu b.cu [SOURCES c.c] [PACKAGES nvidia-cutlass] [INCLUDES folder...]
#                 [STANDARD 17] [FLAGS ...] [SMALL])
# NAME.so, with SASS for the architecture and its PTX for the virtual GPU. INCLUDES may say @nvidia-cutlass@ for the
# folder of that package. SMALL: compiled in seconds, hence always. What is missing is said, and the plug-in left out.
function(fpo_cuda_plugin name)
  cmake_parse_arguments(arg "SMALL" "ARCHITECTURE;STANDARD" "CUDA;SOURCES;PACKAGES;INCLUDES;FLAGS" ${ARGN})
  if(NOT CUDAToolkit_NVCC_EXECUTABLE OR NOT TARGET CUDA::cudart)
    message(STATUS "  no nvcc: the plug-in ${name} is left out")
    return()
  endif()
  if(NOT arg_STANDARD)
    set(arg_STANDARD 17)
  endif()
  set(flags -std=c++${arg_STANDARD} -O3 --expt-relaxed-constexpr -DNDEBUG
    -gencode arch=compute_${arg_ARCHITECTURE},code=[sm_${arg_ARCHITECTURE},compute_${arg_ARCHITECTURE}]
    -Xcompiler -fPIC,-fvisibility=hidden -I ${PROJECT_SOURCE_DIR}/include ${arg_FLAGS})
  foreach(package ${arg_PACKAGES})
    fpo_package(${package} folder)
    if(NOT folder)
      message(STATUS "  no ${package}: the plug-in ${name} is left out (tools/fetch_packages ${package})")
      return()
    endif()
    string(REPLACE "@${package}@" "${folder}" arg_INCLUDES "${arg_INCLUDES}")
  endforeach()
  foreach(include ${arg_INCLUDES})
    list(APPEND flags -isystem ${include})
  endforeach()
  set(compile ${CMAKE_COMMAND} -E env NVCC=${CUDAToolkit_NVCC_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/compile_cuda)
  set(objects "")
  set(small "")
  if(arg_SMALL)
    set(small --small)
  endif()
  foreach(source ${arg_CUDA})
    get_filename_component(path ${source} ABSOLUTE)
    execute_process(COMMAND ${compile} --cached - ${path} ${flags} RESULT_VARIABLE status)
    if(NOT status EQUAL 0 AND NOT arg_SMALL AND NOT FPO_BUILD_KERNELS)
      message(STATUS "  no compiled ${source}: the plug-in ${name} is left out (-DFPO_BUILD_KERNELS=ON)")
      return()
    endif()
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/compile_cuda --files ${path} OUTPUT_VARIABLE headers
      OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" headers "${headers}")
    get_filename_component(stem ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.${stem}.o)
    add_custom_command(OUTPUT ${object} COMMAND ${compile} ${small} ${object} ${path} ${flags}
      DEPENDS ${headers}
      COMMENT "nvcc ${name}: ${source}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_library(${name} MODULE ${objects} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/kernels/plugins/common/cuda_memory.c)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(${name} PRIVATE CUDA::cudart stdc++ m)
  set_target_properties(${name} PROPERTIES PREFIX "" LINKER_LANGUAGE C)
endfunction()
