// SPDX-License-Identifier: Apache-2.0
/** The calls themselves, by JNA: functions of libkvpool, and the clock of the kernel. */
package dev.kvpool.nativelib.jna;
