# SPDX-License-Identifier: Apache-2.0
# arm64 by Debian's cross compiler. Programs of the build run under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
# They take Debian's libraries for arm64 (libc6:arm64, libstdc++6:arm64). Not `-L /usr/aarch64-linux-gnu`, where the compiler's own C library
# is: qemu goes on to the other folders for what is not there, and a loader of one C library with the code of another hangs in its
# first thread.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# Debian has libraries of several machines beside each other; those of the build machine are in another folder, which is not searched.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig)
