// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * Where a command talks to its user.
 *
 * @param in standard input
 * @param out results, which scripts read
 * @param err everything else
 */
public record Console(InputStream in, PrintStream out, PrintStream err) {}
