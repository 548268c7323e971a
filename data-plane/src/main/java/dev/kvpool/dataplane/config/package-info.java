// SPDX-License-Identifier: Apache-2.0
/** Values that flags and environment variables give: durations, sizes, addresses, and errors that name the flag and what it takes. */
package dev.kvpool.dataplane.config;
