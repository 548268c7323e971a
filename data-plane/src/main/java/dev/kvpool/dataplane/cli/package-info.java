// SPDX-License-Identifier: Apache-2.0
/** What every command of {@code kvpool} has in common: its command line, its output and exit code, and how it is stopped. */
package dev.kvpool.dataplane.cli;
