# SPDX-License-Identifier: Apache-2.0
# OpenSSL is linked in and hidden: engines have one of their own, and pods none. The one that is built is newer than Debian's, whose
# AES takes four times as long on processors with VAES.
if(DEFINED ENV{KVPOOL_OPENSSL})
  set(default $ENV{KVPOOL_OPENSSL})
else()
  set(default built)
endif()
set(KVPOOL_OPENSSL ${default} CACHE STRING "OpenSSL to link in: `built` by build-openssl, or the static one of the `system`, 3.0 or newer")
if(KVPOOL_OPENSSL STREQUAL system)
  set(OPENSSL_USE_STATIC_LIBS TRUE)
  find_package(OpenSSL 3.0 REQUIRED COMPONENTS SSL Crypto)
  set(KVPOOL_OPENSSL_HEADERS "${OPENSSL_INCLUDE_DIR}")
elseif(KVPOOL_OPENSSL STREQUAL built)
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/build-openssl" ${CMAKE_SYSTEM_PROCESSOR}
    OUTPUT_VARIABLE openssl OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(KVPOOL_OPENSSL_HEADERS "${openssl}/include")
  add_library(OpenSSL::Crypto STATIC IMPORTED)
  set_target_properties(OpenSSL::Crypto PROPERTIES IMPORTED_LOCATION "${openssl}/lib/libcrypto.a"
    INTERFACE_INCLUDE_DIRECTORIES "${KVPOOL_OPENSSL_HEADERS}" INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS}")
  add_library(OpenSSL::SSL STATIC IMPORTED)
  set_target_properties(OpenSSL::SSL PROPERTIES IMPORTED_LOCATION "${openssl}/lib/libssl.a"
    INTERFACE_INCLUDE_DIRECTORIES "${KVPOOL_OPENSSL_HEADERS}" INTERFACE_LINK_LIBRARIES OpenSSL::Crypto)
  # Built again when its recipe has changed, or when it was deleted.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/build-openssl" "${openssl}/lib/libcrypto.a" "${openssl}/lib/libssl.a")
else()
  message(FATAL_ERROR "KVPOOL_OPENSSL must be `built` or `system`, not ${KVPOOL_OPENSSL}")
endif()
